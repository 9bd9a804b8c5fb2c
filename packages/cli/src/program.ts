import { Command, Option } from 'commander';
import type { Context } from './context.ts';

export interface GlobalOptions {
  readonly repo?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

const VERSION = '0.1.0';

/** Every command with its options and examples; what it does is loaded when it runs. */
export function programOf(open: (options: GlobalOptions) => Context): Command {
  const program = new Command('litterbox')
    .description('Every coding agent gets its own disposable machine and its own branch; you get one diff to accept.')
    .version(VERSION)
    .option('-C, --repo <directory>', 'a directory in the repository', process.cwd())
    .option('--json', 'print results as one JSON document, errors as JSON on stderr')
    .option('--quiet', 'no progress and no notices')
    .option('--no-color', 'no colours')
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ showGlobalOptions: false });
  const context = () => open(program.opts<GlobalOptions>());
  const command = (usage: string, description: string, ...examples: readonly string[]) =>
    program
      .command(usage)
      .description(description)
      .exitOverride()
      .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ litterbox ${line}`).join('\n')}`);

  command(
    'create',
    'Make a sandbox from a commit',
    'create fix-login',
    'create try --from worktree --memory 2GiB',
    "create api --setup 'make deps'",
  )
    .argument('<name>')
    .option('--from <base>', 'head, worktree, or a commit')
    .option('--provider <name>')
    .option('--memory <size>', 'such as 2GiB')
    .option('--cpus <number>', 'such as 1.5')
    .option('--processes <number>')
    .option('--timeout <duration>', 'default for commands, such as 90s')
    .option('--env <name=value>', 'set in every command', collect, [])
    .option('--workdir <path>', 'where the workspace is inside')
    .option('--setup <command>', 'run once, instead of the configured setup command')
    .option('--rootfs <directory>', "a root file system instead of this machine's programs")
    .option('--allow-degraded', 'go on although a security control is missing')
    .option('--rollback', 'remove everything again when the setup fails')
    .action(async (name: string, options) => (await import('./commands/create.ts')).create(context(), name, options));
  command(
    'run',
    'Run a command in a sandbox and record what it changes',
    'run fix-login -- npm test',
    "run fix-login 'cd api && make'",
    'run fix-login -t -- top',
  )
    .argument('<name>')
    .argument('<command...>', 'one argument is for sh -c; several arrive verbatim')
    .option('--timeout <duration>', 'such as 90s')
    .option('--cwd <directory>')
    .option('--env <name=value>', 'for this command', collect, [])
    .option('-m, --message <text>', 'the subject of the revision')
    .option('-t, --tty', 'with a terminal')
    .action(async (name: string, words: string[], options) =>
      (await import('./commands/run.ts')).run(context(), name, words, options),
    );
  command('shell', 'Open an interactive shell in a sandbox', 'shell fix-login', 'shell fix-login --json')
    .argument('<name>')
    .action(async (name: string) => (await import('./commands/run.ts')).shell(context(), name));
  command('list', 'List sandboxes', 'list', 'list --all --json')
    .option('--all', 'of every repository')
    .action(async (options) => (await import('./commands/list.ts')).list(context(), options));
  command('log', 'Show the revisions of a sandbox, newest first', 'log fix-login', 'log fix-login -n 3 -p')
    .argument('<name>')
    .option('-n, --number <count>')
    .option('-p, --patch', 'with the diff of each')
    .action(async (name: string, options) => (await import('./commands/review.ts')).log(context(), name, options));
  command(
    'diff',
    'Show what a sandbox changed',
    'diff fix-login',
    'diff fix-login --stat',
    'diff fix-login --revision 3 src',
  )
    .argument('<name>')
    .argument('[paths...]')
    .option('--stat', 'files and counts')
    .option('--name-only', 'paths')
    .option('--revision <number>', 'one revision against the one before')
    .option('--raw', 'control characters as they are, on a terminal too')
    .action(async (name: string, paths: string[], options) =>
      (await import('./commands/review.ts')).diff(context(), name, paths, options),
    );
  for (const verb of ['apply', 'merge'] as const) {
    command(
      verb,
      verb === 'apply'
        ? 'Bring the changes into index and work tree; the sandbox stays'
        : 'Merge into the current branch, then delete the sandbox',
      `${verb} fix-login`,
      `${verb} fix-login --dry-run`,
      `${verb} fix-login -- -X theirs`,
    )
      .argument('<name>')
      .argument('[arguments...]', 'after --: arguments of git merge, from an allow-list')
      .option('-m, --message <text>')
      .option('--dry-run', 'show what would happen')
      .option('--autostash', 'put uncommitted edits aside and back again')
      .option('--yes-risky', 'accept files that run code on this machine')
      .action(async (name: string, args: string[], options) =>
        (await import('./commands/review.ts')).integrate(context(), verb, name, args, options),
      );
  }
  command(
    'milestone',
    'Make one commit on the review branch of all revisions since the last',
    "milestone fix-login 'Login works'",
    'milestone fix-login Done --json',
  )
    .argument('<name>')
    .argument('<message>')
    .action(async (name: string, message: string) =>
      (await import('./commands/manage.ts')).milestone(context(), name, message),
    );
  command('delete', 'Delete sandboxes with all they hold', 'delete fix-login', 'delete one two --force')
    .argument('<names...>')
    .option('--force', 'also when their work is nowhere else')
    .action(async (names: string[], options) =>
      (await import('./commands/manage.ts')).remove(context(), names, options),
    );
  for (const verb of ['pause', 'resume'] as const) {
    const one = command(
      verb,
      verb === 'pause' ? 'Freeze a sandbox, or stop it to free its memory' : 'Let a paused or stopped sandbox go on',
      `${verb} fix-login`,
      `${verb} --all-envs`,
    )
      .argument('[name]')
      .option('--all-envs', 'every sandbox of this repository')
      .option('--all-repos', 'every sandbox of every repository')
      .action(async (name: string | undefined, options) =>
        (await import('./commands/manage.ts')).runState(context(), verb, name, options),
      );
    if (verb === 'pause') one.addOption(new Option('--stop', 'end its processes and free its memory'));
  }
  command(
    'restore',
    'Put a sandbox back to a revision; history only grows',
    'restore fix-login 3',
    'restore fix-login 1a2b3c4',
  )
    .argument('<name>')
    .argument('<revision>')
    .action(async (name: string, revision: string) =>
      (await import('./commands/manage.ts')).restore(context(), name, revision),
    );
  command('recover', 'Rebuild a sandbox from its last revision', 'recover fix-login', 'recover fix-login --json')
    .argument('<name>')
    .action(async (name: string) => (await import('./commands/manage.ts')).recover(context(), name));
  command(
    'worktree',
    'Write the review branch to .litterbox/worktrees/<name> as plain files',
    'worktree fix-login',
    'worktree fix-login --json',
  )
    .argument('<name>')
    .action(async (name: string) => (await import('./commands/manage.ts')).worktree(context(), name));
  command('explain', 'Say what isolation is in force, and what is not', 'explain', 'explain fix-login')
    .argument('[name]')
    .action(async (name: string | undefined) => (await import('./commands/machine.ts')).explain(context(), name));
  command(
    'doctor',
    'Look for what is missing on this machine, with the command that mends it',
    'doctor',
    'doctor --json',
  ).action(async () => (await import('./commands/machine.ts')).doctor(context()));
  command('trust', 'Agree to what .litterbox.toml asks for', 'trust', 'trust --show', 'trust --yes')
    .option('--show', 'only show it')
    .option('--yes', 'without asking')
    .action(async (options) => (await import('./commands/machine.ts')).trust(context(), options));
  command('audit', 'Show who did what, or check that nothing was changed', 'audit fix-login -n 20', 'audit --verify')
    .argument('[name]')
    .option('-n, --number <count>')
    .option('--verify', 'walk the whole chain of hashes')
    .action(async (name: string | undefined, options) =>
      (await import('./commands/machine.ts')).audit(context(), name, options),
    );
  program.addHelpText(
    'after',
    '\nlitterbox completion bash|zsh|fish|powershell prints a script that completes commands and names.\nlitterbox COMMAND --help shows options and examples.',
  );
  return program;
}

const collect = (value: string, before: string[]): string[] => [...before, value];
