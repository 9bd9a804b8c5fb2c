import { type CommandForm, type Operation, OPERATIONS, parseInput } from '@litterbox/core';
import { Command, Option } from 'commander';
import type { Context } from './context.ts';
import { deriveCommand } from './derive-command.ts';
import { PRESENTERS } from './presenters.ts';

export interface GlobalOptions {
  readonly repo?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

const VERSION = '0.1.0';

/** Every operation that has a command, with its options and examples; how its result is shown is loaded when it runs. */
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
  for (const operation of [...OPERATIONS].sort(byOrder)) {
    if (isCommand(operation)) addCommand(program, operation, () => open(program.opts<GlobalOptions>()));
  }
  program.addHelpText(
    'after',
    '\nlitterbox completion bash|zsh|fish|powershell prints a script that completes commands and names.\nlitterbox COMMAND --help shows options and examples.',
  );
  return program;
}

function addCommand(
  program: Command,
  operation: Operation & { readonly command: CommandForm },
  context: () => Context,
): void {
  const presenter = PRESENTERS[operation.name];
  if (!presenter) throw new Error(`No presenter for ${operation.name}.`);
  const { command, read } = deriveCommand(operation, presenter.repeated);
  for (const [flags, description] of presenter.options ?? []) command.addOption(new Option(flags, description));
  program.addCommand(command.copyInheritedSettings(program));
  command.action(async (...args: unknown[]) => {
    const places = args.slice(0, operation.command.positional.length);
    const found = command.opts<Record<string, unknown>>();
    const opened = context();
    const raw = read(places, found);
    const input = presenter.repeated === undefined ? parseInput(operation, raw) : raw;
    await (await presenter.load())(opened, input as never, found as never);
  });
}

const isCommand = (operation: Operation): operation is Operation & { readonly command: CommandForm } =>
  operation.command !== undefined;

/** In the order in which people meet them. */
const ORDER = Object.keys(PRESENTERS);
const byOrder = (left: { readonly name: string }, right: { readonly name: string }): number =>
  ORDER.indexOf(left.name) - ORDER.indexOf(right.name);
