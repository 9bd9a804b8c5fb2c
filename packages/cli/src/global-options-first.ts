const FLAGS = new Set(['--json', '--quiet', '--no-color']);

/**
 * Global options may stand anywhere before `--`: people write `litterbox list --json`. In `run NAME COMMAND…` what follows the
 * command's first word is the command's own.
 */
export function globalOptionsFirst(args: readonly string[]): readonly string[] {
  const first: string[] = [];
  const rest: string[] = [];
  let words = 0;
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    if (word === '--' || (words >= 3 && rest.includes('run'))) return [...first, ...rest, ...args.slice(index)];
    if (FLAGS.has(word)) first.push(word);
    else {
      rest.push(word);
      if (!word.startsWith('-')) words += 1;
    }
  }
  return [...first, ...rest];
}
