import { readFileSync } from 'node:fs';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LitterboxError } from 'litterbox';
import { listenRelay } from '../claude/listen-relay.ts';
import { ownDirectory } from '../own-directory.ts';
import { relayProgram } from '../claude/relay-program.ts';
import { shellWord } from '../shell-word.ts';
import { anthropicTurn } from '../trial/anthropic-turn.ts';
import { instructionsOf } from './instructions-of.ts';
import type { Seat } from './seat.ts';

/** Tools of Claude's own that need nothing of the person's machine. Those that read and write files are not among them. */
const OWN_TOOLS = ['Bash', 'Agent', 'AskUserQuestion', 'ExitPlanMode', 'Skill', 'TaskStop', 'WebFetch', 'WebSearch'];
const SERVER = 'litterbox';
/** A second `bash`, which Claude has, and what an editor that Claude found would run on the person's machine. */
const NOT_TOOLS = [`mcp__${SERVER}__bash`, 'mcp__ide__executeCode'];
/** What a person could take the hands out of the sandbox with. */
const OPTIONS = new Set([
  '--settings',
  '--setting-sources',
  '--tools',
  '--mcp-config',
  '--plugin-dir',
  '--plugin-url',
  '--bare',
  '--safe-mode',
  '--restricted',
  '--bg',
  '--background',
  '--cloud',
  '--environment',
  '--teleport',
  '--desktop',
  '--chrome',
  '--ide',
  '--worktree',
  '--tmux',
  '--remote-control',
]);
const COMMANDS = new Set([
  'agents',
  'attach',
  'auth',
  'auto-mode',
  'doctor',
  'gateway',
  'import',
  'install',
  'kill',
  'logs',
  'mcp',
  'plugin',
  'plugins',
  'purge',
  'respawn',
  'rm',
  'setup-token',
  'stop',
  'ultrareview',
  'update',
  'upgrade',
  'self-hosted-runner',
]);
const REFUSED =
  'CLAUDE_CODE_SHELL_PREFIX is not what Litterbox set, so this command would run on the machine of the person, and not in the sandbox.';

/**
 * Claude Code starts every command through a program when it is given one (`CLAUDE_CODE_SHELL_PREFIX`), and has the tools of
 * `litterbox mcp` for files, as its own ones work on the person's machine. Seen with Claude Code 2.1.328: the commands of hooks go through
 * that program as well, and work in the sandbox; `env` in a settings file replaces the variable, so settings of the repository are not
 * read at all, and those of this session win over the person's. Its `CLAUDE.md` is then not read from the person's work tree either, and is
 * given as the sandbox has it at the beginning.
 */
export const claudeSeat: Seat = {
  id: 'claude',
  title: 'Claude Code',
  program: 'claude',
  // @see https://code.claude.com/docs/en/self-hosted-environments-deploy --exec-path
  runner: { variable: 'CLAUDE_RUNNER_CLAUDE_BIN', descriptor: 3 },
  refuse(_environment, args) {
    const end = args.indexOf('--');
    const options = end === -1 ? args : args.slice(0, end);
    const [first] = options;
    if (first !== undefined && COMMANDS.has(first)) throw refusal(`claude ${first} is no session with an agent.`);
    const option = options.find((one) => OPTIONS.has(one.split('=')[0] ?? '') || /^-[a-z]*w/.test(one));
    if (option !== undefined) throw refusal(`With ${option.split('=')[0]}, Claude Code would not work in the sandbox.`);
  },
  async open({ tools, ...place }) {
    const directory = await ownDirectory('seat', plainDirectory()); // for its owner alone
    const at = (name: string) => join(directory, name);
    const program = async (name: string, ...lines: string[]) =>
      await writeFile(at(name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o700 });
    try {
      const [memory, root] = await Promise.all([instructionsOf(place.hands, ['CLAUDE.md']), realpath(place.root)]);
      const words = new TextEncoder().encode(`${whereItIs(place.hands.record.workdir, tools !== undefined)}\n\n`);
      await Promise.all([
        writeFile(at('relay.cjs'), relayProgram()),
        // Claude starts the server of its tools through the prefix too.
        program(
          'shell',
          `[ "$*" = ${at('tools')} ] && exec ${at('tools')}`,
          'unset NODE_OPTIONS',
          `exec ${shellWord(process.execPath)} ${at('relay.cjs')} ${at('socket')} "$@"`,
        ),
        program('tools', tools ? `exec ${tools.map(shellWord).join(' ')}` : 'exit 1'),
        // Through the prefix the seat answers instead, by the name.
        program('hook', `echo ${shellWord(REFUSED)} >&2`, 'exit 2'),
        writeFile(
          at('servers.json'),
          JSON.stringify({ mcpServers: tools ? { [SERVER]: { command: at('tools') } } : {} }),
        ),
        writeFile(at('prompt.md'), Buffer.concat([words, memory])),
      ]);
      await mkdir(at('at'), { mode: 0o700 });
      const seated = { place: { ...place, root }, hook: at('hook'), standIns: at('at') };
      const relay = await listenRelay(seated, at('socket'));
      const environment = {
        CLAUDE_CODE_SHELL_PREFIX: at('shell'),
        CLAUDE_CODE_DISABLE_AGENT_VIEW: '1', // what works on in the background outlives the seat
        CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1', // its files would be written inside and read here
        ...(process.getuid?.() === 0 && { IS_SANDBOX: '1' }),
      };
      return {
        environment,
        args: [
          ...permissionMode(process.env),
          `--tools=${OWN_TOOLS.join(',')}`,
          `--allowedTools=Bash,mcp__${SERVER}`,
          `--disallowedTools=${NOT_TOOLS.join(',')}`,
          '--setting-sources=user',
          `--mcp-config=${at('servers.json')}`,
          '--strict-mcp-config',
          `--append-system-prompt-file=${at('prompt.md')}`,
          `--settings=${settings(environment, at('hook'), at('at'))}`,
        ],
        async [Symbol.asyncDispose]() {
          await relay[Symbol.asyncDispose]();
          await rm(directory, { recursive: true, force: true });
        },
      };
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  },
  trial: {
    args: ['-p', 'Run the command.'],
    prepare: (_home, modelUrl) => ({
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    answer: (command, body) => anthropicTurn('Bash', { command, description: 'The command' }, body),
  },
};

/**
 * Claude's own default mode asks a model of Anthropic's before each command, although all that it may do is done in the sandbox. A mode that the person chose, in their settings or on the command line, stays.
 */
export function permissionMode(environment: NodeJS.ProcessEnv): readonly string[] {
  const directory = environment['CLAUDE_CONFIG_DIR'] || join(environment['HOME'] ?? homedir(), '.claude');
  try {
    const { permissions } = JSON.parse(readFileSync(join(directory, 'settings.json'), 'utf8')) as {
      readonly permissions?: { readonly defaultMode?: unknown };
    };
    if (permissions?.defaultMode !== undefined) return [];
  } catch {
    // none, or Claude itself says what is wrong with it
  }
  return ['--permission-mode=default'];
}

/** They win over the settings of the person. The hook is there for those of an organization, which win over these. */
function settings(environment: Readonly<Record<string, string>>, hook: string, standIns: string): string {
  return JSON.stringify({
    env: environment,
    permissions: { additionalDirectories: [standIns] },
    disableAllHooks: false,
    sandbox: { enabled: false }, // a second one, on this machine, around the way to the first
    hooks: { PreToolUse: [{ matcher: 'Bash|Agent', hooks: [{ type: 'command', command: hook }] }] },
  });
}

const whereItIs = (workdir: string, hasTools: boolean) =>
  `${hasTools ? `Bash and the tools of mcp__${SERVER} work` : 'Bash works'} in a sandbox, where the repository is at ${workdir}. No tool of yours reads files of the machine that you run on. Read a file to which output was saved with Bash (sed, tail, grep), and with no other tool.`;

function refusal(what: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', what, {
    operation: 'agent.seat',
    hint: 'Leave it out, or start claude without Litterbox.',
  });
}

/** Paths of the seat stand in texts of Claude's without quotes. */
function plainDirectory(): string {
  return /^[\w./-]+$/.test(tmpdir()) ? tmpdir() : '/tmp';
}
