import type { Command } from 'commander';

const FLAGS = new Set(['--json', '--quiet', '--no-color']);
const REPOSITORY = ['-C', '--repo'];

/**
 * People put global options anywhere (`litterbox list --json`) and leave out the `--` of `run NAME COMMAND…`. Here the first come
 * first, and what follows the name in `run` is the command's own, options included.
 */
export function normalArguments(program: Command, args: readonly string[]): readonly string[] {
  if (args.length === 1 && (args[0] === 'version' || args[0] === '-v')) return ['--version'];
  if (args.length > 1 && args[0] === 'help') return askingForHelp(program, args.slice(1));
  const withValue = new Set(
    everyCommand(program)
      .flatMap(({ options }) => options)
      .filter(({ required }) => required)
      .flatMap(({ short, long }) => [short, long]),
  );
  const first: string[] = [];
  const rest: string[] = [];
  const words: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    if (word === '--') return [...first, ...rest, ...args.slice(index)];
    if (words.length === 2 && words[0] === 'run' && !word.startsWith('-'))
      return [...first, ...rest, '--', ...args.slice(index)];
    if (FLAGS.has(word) || word.startsWith('--repo=')) first.push(word);
    else if (REPOSITORY.includes(word)) first.push(...args.slice(index, ++index + 1));
    else {
      rest.push(word);
      if (withValue.has(word)) rest.push(...args.slice(++index, index + 1));
      else if (!word.startsWith('-')) words.push(word);
    }
  }
  return [...first, ...rest];
}

/** `help agent run` as `agent run --help`; without it where there is no such command, which is an error then. */
function askingForHelp(program: Command, words: readonly string[]): readonly string[] {
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((one) => one.name() === word);
  return command ? [...words, '--help'] : words;
}

const everyCommand = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyCommand)];
