import { Argument, Command, Option } from 'commander';
import { blame } from './words/blamed-command.ts';
import { type CommandManifest, MANIFEST } from './words/command-manifest.ts';
import type { Context } from './context.ts';
import { COMMAND_GROUPS, GROUP_SUMMARIES, headingOf, OPTION_GROUPS } from './help-groups.ts';
import { OWN_COMMANDS, type OwnCommand } from './own-commands.ts';
import { PRESENTERS } from './presenters.ts';
import { VERSION } from './version.ts';

export interface GlobalOptions {
  readonly repo?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

/** Every operation that has a command, with its options and examples; the operation itself is loaded when it runs. */
export function programOf(open: (options: GlobalOptions) => Context): Command {
  const program = new Command('litterbox')
    .description('Give every coding agent its own sandbox and branch. Review one diff. Merge it or throw it away.')
    .version(VERSION)
    .option('-C, --repo <directory>', 'a directory in the repository (default: the current one)')
    .option('--json', 'print results as one JSON document, errors as JSON on stderr')
    .option('--quiet', 'no progress and no notices')
    .option('--no-color', 'no colours')
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .configureOutput({ outputError: () => {} }) // said once, in the form of every other error
    .exitOverride()
    .configureHelp({ showGlobalOptions: false, minWidthToWrap: 20, subcommandTerm: (command) => command.name() });
  const context = () => open(program.opts<GlobalOptions>());
  for (const manifest of MANIFEST) addCommand(parentOf(program, manifest), manifest, context);
  for (const command of OWN_COMMANDS) addOwnCommand(program, command, context);
  const verbs = COMMAND_GROUPS.flatMap(([, members]) => members);
  (program.commands as Command[]).sort((left, right) => verbs.indexOf(left.name()) - verbs.indexOf(right.name()));
  for (const command of program.commands) command.helpGroup(headingOf(COMMAND_GROUPS, command.name()) ?? 'Commands:');
  program.commandsGroup('This machine and others:'); // where the parser puts its own `help`
  program.addHelpText(
    'after',
    '\nlitterbox COMMAND --help shows options and examples.\nlitterbox completion bash|zsh|fish|powershell prints a script for your shell.',
  );
  return program;
}

/** The program itself, or the command of the group, made for the first of its members. */
function parentOf(program: Command, { group }: CommandManifest): Command {
  if (group === undefined) return program;
  const known = program.commands.find((command) => command.name() === group);
  if (known) return known;
  const made = new Command(group).copyInheritedSettings(program).description(GROUP_SUMMARIES[group] ?? group);
  const examples = MANIFEST.filter((one) => one.group === group).flatMap((one) => one.examples.slice(0, 1));
  made.addHelpText('after', examplesText(examples)).exitOverride(blame(made));
  program.addCommand(made);
  return made;
}

function addCommand(parent: Command, manifest: CommandManifest, context: () => Context): void {
  const { operation: name, verb, summary, examples, places } = manifest;
  const presenter = PRESENTERS[name];
  if (!presenter) throw new Error(`No presenter for ${name}.`);
  const command = new Command(verb)
    .copyInheritedSettings(parent)
    .description(summary)
    .addHelpText('after', examplesText(examples));
  command.exitOverride(blame(command));
  for (const { key, name: shown, isMany, isOptional, description } of places) {
    const several = isMany || key === presenter.repeated ? '...' : '';
    command.argument(isOptional ? `[${shown}${several}]` : `<${shown}${several}>`, description);
  }
  const groups = OPTION_GROUPS[name];
  const options = manifest.options.map((one) => {
    const option = optionOf(one);
    const heading = headingOf(groups, one.key);
    return { key: one.key, option: heading === undefined ? option : option.helpGroup(heading) };
  });
  const keys = groups?.flatMap(([, members]) => members) ?? [];
  options.sort((left, right) => keys.indexOf(left.key) - keys.indexOf(right.key));
  for (const { option } of options) command.addOption(option);
  for (const [flags, description] of presenter.options ?? []) command.addOption(new Option(flags, description));
  command.action(async (...args: unknown[]) => {
    const flags = command.opts<Record<string, unknown>>();
    const words = [
      ...places.map(({ key, name: shown }, place) => ({ key, name: shown, value: args[place] })),
      ...options.map(({ key, option }) => ({
        key,
        name: option.long ?? option.name(),
        value: flags[option.attributeName()],
      })),
    ];
    const opened = context();
    const [{ operation, present }, { parseInput }, { readInput }] = await Promise.all([
      presenter.load(),
      import('./words/parse-input.ts'),
      import('./words/read-input.ts'),
    ]);
    const { repeated } = presenter;
    const several = words.find(({ key }) => key === repeated)?.value;
    const input = readInput(
      operation,
      words.filter(({ key }) => key !== repeated),
    );
    if (repeated === undefined) return await present(opened, parseInput(operation, input) as never, flags as never);
    await present(opened, { ...input, [repeated]: several } as never, flags as never);
  });
  parent.addCommand(command);
}

function addOwnCommand(parent: Command, own: OwnCommand, context: () => Context): void {
  const { verb, summary, words = [], options = [], examples, below = [], load } = own;
  const command = new Command(verb)
    .copyInheritedSettings(parent)
    .description(summary)
    .addHelpText('after', examplesText(examples));
  command.exitOverride(blame(command));
  for (const [name, description, choices] of words) {
    const argument = new Argument(name, description);
    command.addArgument(choices ? argument.choices(choices) : argument);
  }
  for (const [flags, description, choices] of options) {
    if (choices === 'may be repeated') command.addOption(repeated(new Option(flags, `${description}; ${choices}`)));
    else command.addOption(choices ? new Option(flags, description).choices(choices) : new Option(flags, description));
  }
  for (const one of below) addOwnCommand(command, one, context);
  if (load) {
    command.action(async (...args: unknown[]) => {
      const perform = await load();
      await perform(context(), args.slice(0, words.length).flat() as (string | undefined)[], command.opts());
    });
  }
  parent.addCommand(command);
}

const examplesText = (examples: readonly string[]): string =>
  `\nExamples:\n${examples.map((line) => `  $ litterbox ${line}`).join('\n')}`;

function optionOf({ flags, description, isRepeated, choices }: CommandManifest['options'][number]): Option {
  const option = new Option(flags, description);
  if (isRepeated) repeated(option);
  return choices ? option.choices(choices) : option;
}

function repeated(option: Option): Option {
  return option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
}
