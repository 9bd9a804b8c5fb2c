import { CLIENT_IDS } from './agents/client-ids.ts';
import type { Perform } from './perform.ts';

/** A command that is no operation: it needs neither sandbox nor state, and agents have no use for it. Loaded when run. */
export interface OwnCommand {
  readonly verb: string;
  readonly summary: string;
  readonly words?: readonly (readonly [name: string, description: string, choices?: readonly string[]])[];
  readonly options?: readonly (readonly [
    flags: string,
    description: string,
    choices?: readonly string[] | 'may be repeated',
  ])[];
  readonly examples: readonly string[];
  readonly below?: readonly OwnCommand[];
  load?(): Promise<Perform>;
}

const HANDS = [
  '--hands',
  "the client's own commands and files go into a sandbox, instead of our tools (Codex)",
] as const;
const CLIENT_WORD = ['<client>', 'the program that runs your agent', CLIENT_IDS] as const;
const SCOPE = [
  '--scope <scope>',
  'user: all your projects; project: a file in this repository, for everybody (default: what suits the client)',
  ['user', 'project'],
] as const;
const PLACE = [
  ['--from <base>', 'what a new sandbox starts from: head, worktree, or a commit'],
  ['--provider <name>', 'provider that runs a new sandbox'],
  ['--host <name>', 'machine to run a new sandbox on'],
  ['--image <image>', 'a container image for a new sandbox'],
] as const;
const NAME = ['--name <name>', 'what the client calls the server (default: litterbox)'] as const;
const DRY_RUN = ['--dry-run', 'show the diff and write nothing'] as const;
const YES = ['--yes', 'without asking'] as const;

export const OWN_COMMANDS: readonly OwnCommand[] = [
  {
    verb: 'init',
    summary: 'Write a .litterbox.toml to start from, with all settings as comments',
    options: [
      ['--print', 'print it and write nothing'],
      ['--force', 'replace the file that is there; it stays as .litterbox.toml.bak'],
      YES,
    ],
    examples: ['init', 'init --print', 'init --force'],
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    verb: 'mcp',
    summary: 'Serve agents over standard input and output; their client starts it',
    options: [
      ['--sandbox <name>', 'the one sandbox that the agent works in'],
      ['--share', 'although another agent is at work in a sandbox'],
      ['--tools <set>', 'names of the tools that the agent sees (default: as configured)', ['standard', 'roadmap']],
      ['--tool-prefix <prefix>', 'prefix for the name of each tool'],
      ['--actor <name>', 'who calls, as audit shows it (default: mcp)'],
    ],
    examples: ['mcp', 'mcp --sandbox fix-login'],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    verb: 'serve',
    summary: 'Serve agents over HTTP on this machine, to whoever has the token',
    options: [
      ['--port <number>', 'on 127.0.0.1 (default: a free one)'],
      ['--token-file <file>', 'file of the token, made if it is missing (default: serve.token in the state directory)'],
      ['--e2b', "serve programs of E2B's SDK instead; the key is in e2b.key of the state directory"],
      ['--empty', 'with --e2b: sandboxes begin empty, without this repository'],
      ['--sandbox <name>', 'the one sandbox that agents work in'],
      ['--share', 'although another agent is at work in a sandbox'],
      ['--tools <set>', 'names of the tools that agents see (default: as configured)', ['standard', 'roadmap']],
      ['--tool-prefix <prefix>', 'prefix for the name of each tool'],
      ['--actor <name>', 'who calls, as audit shows it (default: mcp)'],
    ],
    examples: ['serve --port 7777', 'serve --sandbox fix-login', 'serve --e2b --empty'],
    load: async () => (await import('./commands/mcp.ts')).serve,
  },
  {
    verb: 'review',
    summary: 'Show in your browser what each agent did, whether it was tested, and take parts of it',
    words: [['[name]', 'the one sandbox that the page is about (default: all of the repository)']],
    options: [
      ['--port <number>', 'on 127.0.0.1 (default: a free one)'],
      ['--no-open', 'print the address and open no browser'],
    ],
    examples: ['review', 'review fix-login', 'review --no-open --port 7788'],
    load: async () => (await import('./reviewing/review-page.ts')).review,
  },
  {
    verb: 'host',
    summary: 'Manage the machines that sandboxes can run on: over SSH, and virtual ones of this computer',
    examples: ['host add build-box me@build.example.org', 'host list', 'host prefer build-box,local'],
    below: [
      {
        verb: 'add',
        summary: 'Log in to a machine, ask you about its key where that is new, and save it under a name',
        words: [
          ['<name>', 'its name here, as in create --host NAME'],
          ['<destination>', '[USER@]HOST[:PORT]; HOST may be one of ~/.ssh/config'],
        ],
        options: [
          ['--identity-file <file>', 'the private key to try first'],
          ['--host-key <fingerprint>', 'the key that it must show, as ssh-keygen -l prints it: SHA256:…'],
        ],
        examples: ['host add build-box me@build.example.org', 'host add lab 10.0.0.7:2222 --identity-file ~/.ssh/lab'],
        load: async () => (await import('./commands/host.ts')).add,
      },
      {
        verb: 'list',
        summary: 'List the machines',
        examples: ['host list', 'host list --json'],
        load: async () => (await import('./commands/host.ts')).list,
      },
      {
        verb: 'check',
        summary: 'Log in to a machine and describe it; litterbox doctor --host NAME checks what it supports',
        words: [['<name>', 'as host list shows it']],
        examples: ['host check build-box'],
        load: async () => (await import('./commands/host.ts')).check,
      },
      {
        verb: 'prefer',
        summary:
          'Choose where sandboxes run when no host is named; of several, Litterbox takes the one with the most room',
        words: [['[names]', 'separated by commas; local is this machine. Without names: show the choice']],
        options: [['--clear', 'clear the choice']],
        examples: ['host prefer build-box,local', 'host prefer', 'host prefer --clear'],
        load: async () => (await import('./commands/host.ts')).prefer,
      },
      {
        verb: 'remove',
        summary: 'Remove a machine from the list; its sandboxes stay there, and work again once it is added again',
        words: [['<name>', 'as host list shows it']],
        examples: ['host remove build-box'],
        load: async () => (await import('./commands/host.ts')).remove,
      },
    ],
  },
  {
    verb: 'with',
    summary: 'Start your own agent here, with its commands and files in a sandbox',
    words: [
      ['<agent>', 'the agent: its own program, login and terminal stay as they are', ['claude', 'codex', 'pi']],
      ['[args...]', "the agent's own arguments, after --"],
    ],
    options: [
      ['--sandbox <name>', 'work in this one; made when it is missing (default: a new one, named by the branch)'],
      ['--continue', 'go on in the sandbox in which this agent worked last'],
      ['--share', 'although another agent is at work in the sandbox'],
      ...PLACE,
    ],
    examples: [
      'with codex',
      'with claude',
      "with codex -- 'Mend the failing test'",
      'with codex --sandbox fix-login',
      'with codex --continue',
    ],
    load: async () => (await import('./commands/with.ts')).withAgent,
  },
  {
    verb: 'acp',
    summary: 'Lead an editor to an agent inside, over the Agent Client Protocol',
    words: [['<agent>', 'as agent list shows it']],
    options: [
      ['--sandbox <name>', 'work in this one; made when it is missing (default: a new one, named by the branch)'],
      ...PLACE,
    ],
    examples: ['acp gemini', 'acp opencode --sandbox fix-login'],
    load: async () => (await import('./inside/acp.ts')).acp,
  },
  {
    verb: 'agent',
    summary: 'Let agents work in sandboxes: inside by their own program, or outside as clients',
    examples: [
      'agent list',
      "agent run codex -- 'Mend the failing test'",
      'agent install claude',
      'agent install cursor --dry-run',
      'agent uninstall claude',
    ],
    below: [
      {
        verb: 'run',
        summary: "Let an agent's own program work inside a sandbox without you; its key stays outside",
        words: [
          ['<agent>', 'as agent list shows it; several by commas, each in a sandbox of its own'],
          ['[prompt...]', 'what it has to do, after --; without it your notes on lines of --sandbox'],
        ],
        options: [
          ['--sandbox <name>', 'work in this one; made when it is missing (default: a new one, named by the branch)'],
          ['-n, --number <count>', 'so many of each at once, each in a sandbox of its own (default: 1)'],
          ['--prompt <text>', 'another prompt, for as many more of them', 'may be repeated'],
          [
            '--judge <command>',
            'runs in each sandbox afterwards: exit status 0 passes, a number on its last line ranks',
          ],
          ['--time-limit <duration>', 'end the agent then (default: 1h)'],
          ['--silence <duration>', 'end the agent when it printed nothing for so long (default: 15m)'],
          ...PLACE,
        ],
        examples: [
          "agent run claude -- 'Mend the failing test'",
          'agent run codex --sandbox fix-login -- Go on',
          "agent run codex -n 3 -- 'Mend the failing test'",
          "agent run claude,codex --judge 'npm test' -- 'Mend the failing test'",
        ],
        load: async () => (await import('./inside/run.ts')).run,
      },
      {
        verb: 'stop',
        summary: 'End the agent that works inside; its work stays',
        words: [['<name>', 'the sandbox']],
        examples: ['agent stop main-codex'],
        load: async () => (await import('./inside/stop.ts')).stop,
      },
      {
        verb: 'logs',
        summary: 'Print what the agent inside printed, now or in its last run',
        words: [['<name>', 'the sandbox']],
        examples: ['agent logs main-codex'],
        load: async () => (await import('./inside/logs.ts')).logs,
      },
      {
        verb: 'attach',
        summary: 'Print what the agent inside prints, until it ends; Ctrl-C leaves it at work',
        words: [['<name>', 'the sandbox']],
        examples: ['agent attach main-codex'],
        load: async () => (await import('./inside/attach.ts')).attach,
      },
      {
        verb: 'install',
        summary: "Write the client's configuration so that it starts litterbox mcp; shows the diff and asks first",
        words: [CLIENT_WORD],
        options: [
          SCOPE,
          ['--sandbox <name>', 'the one sandbox that the agent works in'],
          ['--share', 'although another agent is at work in a sandbox'],
          ['--tools <set>', 'names of the tools that the agent sees', ['standard', 'roadmap']],
          ['--tool-prefix <prefix>', 'prefix for the name of each tool'],
          NAME,
          ['--exclusive', "also take away the client's own tools that write and run (Claude Code)"],
          HANDS,
          DRY_RUN,
          YES,
        ],
        examples: [
          'agent install claude',
          'agent install claude --exclusive --scope project',
          'agent install codex --sandbox fix-login --yes',
          'agent install codex --hands',
          'agent install vscode --dry-run',
        ],
        load: async () => (await import('./commands/agent.ts')).install,
      },
      {
        verb: 'uninstall',
        summary: 'Take out what install put in, and nothing else',
        words: [CLIENT_WORD],
        options: [SCOPE, NAME, HANDS, ['--sandbox <name>', 'with --hands: the sandbox (default: codex)'], DRY_RUN, YES],
        examples: [
          'agent uninstall claude',
          'agent uninstall codex --scope project --yes',
          'agent uninstall codex --hands',
        ],
        load: async () => (await import('./commands/agent.ts')).uninstall,
      },
      {
        verb: 'serve',
        summary: 'Serve the commands and files of a sandbox over standard input and output; Codex starts it',
        words: [['<agent>', 'the agent that speaks with it', ['codex']]],
        options: [
          ['--sandbox <name>', 'the sandbox; made when it is missing (default: a new one, named by the branch)'],
          ['--share', 'although another agent is at work in the sandbox'],
        ],
        examples: ['agent serve codex --sandbox codex'],
        load: async () => (await import('./commands/agent-serve.ts')).serve,
      },
      {
        verb: 'list',
        summary: 'List the agents that can work inside, and the clients in which Litterbox is installed',
        options: [NAME],
        examples: ['agent list', 'agent list --json'],
        load: async () => (await import('./commands/agent.ts')).list,
      },
    ],
  },
];
