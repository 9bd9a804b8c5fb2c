/** The words of a list that may be told at once. */
export interface ListWords {
  readonly directory: string;
  readonly json: boolean;
  readonly all: boolean;
  readonly changed: boolean;
}

const FLAGS = ['--json', '--all', '--changed'];

/** Reads a command line of a list in its usual words; nothing for every other one, which is the parser's. */
export function listWords(args: readonly string[]): ListWords | undefined {
  const [option, named] = args;
  const isNamed = option === '-C' && named !== undefined && named !== '' && !named.startsWith('-');
  const [verb, ...flags] = isNamed ? args.slice(2) : args;
  if (verb !== 'list' || !flags.every((flag) => FLAGS.includes(flag))) return undefined;
  const [json = false, all = false, changed = false] = FLAGS.map((flag) => flags.includes(flag));
  if (all && changed) return undefined; // refused there
  return { directory: isNamed ? named : '.', json, all, changed };
}
