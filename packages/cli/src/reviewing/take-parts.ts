import { createInterface } from 'node:readline';
import {
  decodeRaw,
  type FilePart,
  LitterboxError,
  type OfferedFile,
  type OfferedHunk,
  offerParts,
  type ShownPlan,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { isAtTerminal } from '../terminal/ask.ts';
import { diffLine } from '../terminal/diff-line.ts';
import { changesIn, splitHunk } from '../terminal/split-hunk.ts';
import type { Talk } from '../terminal/talk.ts';

/** The parts of a sandbox that a person chose, and the state that they saw. */
export interface TakenParts {
  readonly tip: string;
  readonly paths: readonly string[];
  readonly parts: readonly FilePart[];
}

type Answer = 'y' | 'n' | 'q' | 'a' | 'd' | 's';
/** Answers one question of the form `(1/3) Take hunk [y,n,?]?`. */
type Ask = (question: string, keys: readonly Answer[]) => Promise<Answer>;

const MEANINGS: Readonly<Record<Answer | '?', readonly [ofHunk: string, ofFile: string]>> = {
  y: ['take this hunk', 'take this file'],
  n: ['leave it in the sandbox', 'leave it in the sandbox'],
  q: ['leave it and all that follow', 'leave it and all that follow'],
  a: ['take it and the rest of the file', 'take this file'],
  d: ['leave it and the rest of the file', 'leave it in the sandbox'],
  s: ['split it into smaller hunks', ''],
  '?': ['these words', 'these words'],
};

/**
 * Shows the changes of an apply one after the other and asks about each, as `git add -p` does. The end of the input takes nothing.
 *
 * @returns undefined when nothing is taken
 * @throws LitterboxError `NEED_TTY`, and what a plan throws
 */
export async function takeParts(
  context: Context,
  input: { readonly sandbox: string; readonly paths: readonly string[]; readonly tip?: string | undefined },
): Promise<TakenParts | undefined> {
  const { talk, signal } = context;
  if (talk.json || !isAtTerminal()) throw needTerminal();
  const litterbox = await context.settled();
  const { sandbox, tip } = input;
  const paths = input.paths.length > 0 ? { paths: input.paths } : {};
  const offered = await litterbox.perform(
    offerParts,
    { sandbox, tip, ...paths },
    { signal, onProgress: talk.progress },
  );
  const { plan } = offered;
  if (plan.unsettled !== undefined) talk.notice(talk.paint('yellow', visible(plan.unsettled), process.stderr));
  talk.endProgress();
  const taken = { tip: plan.tip, paths: [] as string[], parts: [] as FilePart[] };
  using conversation = new Conversation(talk, signal);
  for await (const file of offered.files()) {
    showHead(talk, file, plan);
    const isOver = await (file.digest === undefined ? askWhole : askHunks)(conversation, talk, file, taken);
    if (isOver) break;
  }
  signal.throwIfAborted();
  if (taken.paths.length + taken.parts.length > 0) return taken;
  talk.notice(
    plan.upToDate ? 'Nothing to do: your work tree has it all.' : 'Nothing was taken. It is all still in the sandbox.',
  );
  return undefined;
}

function showHead(talk: Talk, { path, change }: OfferedFile, { risky }: ShownPlan): void {
  const print = (text: string) => void process.stderr.write(`${text}\n`);
  print('');
  print(
    talk.paint(
      'bold',
      `${visibleName(path)}${change.status === 'modified' ? '' : `, ${change.status}`}`,
      process.stderr,
    ),
  );
  for (const reason of risky.find((one) => one.path === path)?.reasons ?? [])
    print(talk.paint('red', visible(reason), process.stderr));
}

function showHunk(talk: Talk, { heading, lines }: OfferedHunk): void {
  for (const line of [heading, ...lines])
    process.stderr.write(`${diffLine(talk, visible(decodeRaw(line)), process.stderr)}\n`);
}

/** @returns whether the person wants to see no more */
async function askWhole(
  { ask }: Conversation,
  talk: Talk,
  file: OfferedFile,
  taken: { readonly paths: string[] },
): Promise<boolean> {
  for (const hunk of file.hunks) showHunk(talk, hunk);
  if (file.hunks.length === 0) process.stderr.write(`${unshown(file)}\n`);
  const answer = await ask('Take file', ['y', 'n', 'q', 'a', 'd']);
  if (answer === 'y' || answer === 'a') taken.paths.push(file.path);
  return answer === 'q';
}

function unshown({ change }: OfferedFile): string {
  if (change.binary) return 'Binary: its content is not shown.';
  if (change.wasExecutable !== undefined)
    return change.executable ? 'It becomes executable.' : 'It is executable no more.';
  const { addedLines = 0, removedLines = 0 } = change;
  return addedLines + removedLines === 0
    ? 'No lines to show.'
    : `+${addedLines} -${removedLines} lines, too many to show here.`;
}

/** @returns whether the person wants to see no more */
async function askHunks(
  { ask }: Conversation,
  talk: Talk,
  { path, digest = '', hunks }: OfferedFile,
  { parts }: { readonly parts: FilePart[] },
): Promise<boolean> {
  const queue = [...hunks];
  const changes: number[] = [];
  const take = (hunk: OfferedHunk) => changes.push(...changesIn(hunk).map((_, number) => hunk.firstChange + number));
  let answer: Answer | undefined;
  for (let at = 0; at < queue.length && answer !== 'q' && answer !== 'd'; at++) {
    const hunk = queue[at] as OfferedHunk;
    showHunk(talk, hunk);
    const isSplittable = changesIn(hunk).length > 1;
    answer = await ask(`(${at + 1}/${queue.length}) Take hunk`, [
      'y',
      'n',
      'q',
      'a',
      'd',
      ...(isSplittable ? (['s'] as const) : []),
    ]);
    if (answer === 'y') take(hunk);
    if (answer === 's') queue.splice(at--, 1, ...splitHunk(hunk));
    if (answer !== 'a') continue;
    queue.slice(at).forEach(take);
    break;
  }
  if (changes.length > 0) parts.push({ path, digest, changes });
  return answer === 'q';
}

/** Questions and typed answers, a line each. */
class Conversation implements Disposable {
  readonly #talk: Talk;
  readonly #signal: AbortSignal;
  readonly #lines;
  readonly #typed;

  constructor(talk: Talk, signal: AbortSignal) {
    this.#talk = talk;
    this.#signal = signal;
    this.#lines = createInterface({ input: process.stdin, terminal: false });
    this.#typed = this.#lines[Symbol.asyncIterator]();
    signal.addEventListener('abort', this.#close);
  }

  readonly ask: Ask = async (question, keys) => {
    for (;;) {
      process.stderr.write(
        this.#talk.paint(['bold', 'cyan'], `${question} [${[...keys, '?'].join(',')}]? `, process.stderr),
      );
      const { done, value } = await this.#typed.next();
      this.#signal.throwIfAborted();
      if (done) throw cancelled();
      const key = keys.find((one) => one === value.trim().toLowerCase());
      if (key !== undefined) return key;
      for (const one of [...keys, '?'] as const)
        process.stderr.write(`${one} - ${MEANINGS[one][question.endsWith('file') ? 1 : 0]}\n`);
    }
  };

  readonly #close = () => this.#lines.close();

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#close);
    this.#close();
    process.stdin.pause();
  }
}

const cancelled = () =>
  new LitterboxError('PERMISSION_DENIED', 'The input ended before the last answer. Nothing was taken.', {
    operation: 'cli.apply',
    hint: 'q keeps what was taken until then.',
  });

const needTerminal = () =>
  new LitterboxError('NEED_TTY', 'Choosing change by change needs a terminal.', {
    operation: 'cli.apply',
    hint: 'Name files instead: litterbox apply NAME PATHS. Or choose in the browser: litterbox review NAME.',
  });
