import type { PatchHunk } from '../answers.ts';
import { signOf, textOf } from './diff-rows.ts';
import type { Token } from '../token-emitter.ts';

/** Lines of one side that are coloured together. */
const BLOCK_LINES = 400;
const MAX_CHARACTERS = 100_000;
/** Hostile text may take a grammar for ever. What takes longer has no colours. */
const LIMIT_MS = 1_500;
/** Nobody reads what rushes by. */
const SETTLED_MS = 60;

interface Block {
  /** Tokens by the place of the line in its hunk; absent until they are there. */
  lines?: ReadonlyMap<number, readonly Token[]>;
}

interface Job {
  readonly block: Block;
  readonly indexes: readonly number[];
  readonly language: string;
  readonly text: string;
}

/** Colours lines that were drawn, in a worker, a block at a time; the rows are drawn again when it has some. */
export class Painter {
  readonly #onColours: () => void;
  readonly #blocks = new WeakMap<PatchHunk, Map<string, Block>>();
  #jobs: Job[] = [];
  #worker: Worker | undefined;
  #isBusy = false;
  #timer: number | undefined;

  constructor(onColours: () => void) {
    this.#onColours = onColours;
  }

  /** The tokens of a line of one side. Undefined where there are none yet. */
  tokens(
    hunk: PatchHunk,
    index: number,
    side: 'old' | 'new',
    language: string | undefined,
  ): readonly Token[] | undefined {
    if (language === undefined) return undefined;
    const start = index - (index % BLOCK_LINES);
    const key = `${side}${start}`;
    const blocks = this.#blocks.get(hunk) ?? new Map<string, Block>();
    this.#blocks.set(hunk, blocks);
    const known = blocks.get(key);
    if (known) return known.lines?.get(index);
    const block: Block = {};
    blocks.set(key, block);
    const other = side === 'old' ? '+' : '-';
    const indexes = hunk.lines
      .slice(start, start + BLOCK_LINES)
      .flatMap((line, place) => (signOf(line) === other || signOf(line) === '\\' ? [] : [start + place]));
    const text = indexes.map((place) => textOf(hunk.lines[place])).join('\n');
    if (text.length <= MAX_CHARACTERS) this.#jobs.push({ block, indexes, language, text });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), SETTLED_MS);
    return undefined;
  }

  #next(): void {
    if (this.#isBusy) return;
    const job = this.#jobs.pop(); // the newest: it is what is seen now
    if (!job) return;
    this.#isBusy = true;
    const worker = (this.#worker ??= startWorker());
    const end = () => {
      clearTimeout(timer);
      this.#isBusy = false;
      this.#next();
    };
    const timer = setTimeout(() => {
      worker.terminate();
      this.#worker = undefined;
      end();
    }, LIMIT_MS);
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', ({ data }: MessageEvent<readonly Token[]>) => {
      port1.close();
      job.block.lines = byLine(job.indexes, job.text, data);
      this.#onColours();
      end();
    });
    port1.start();
    worker.postMessage({ language: job.language, text: job.text }, [port2]);
  }
}

function startWorker(): Worker {
  // Trusted Types: this one address is all that the page may make a script of.
  const { trustedTypes } = window as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
  };
  const address = '/colours.js';
  policy ??= trustedTypes?.createPolicy('colours', { createScriptURL: (url: string) => (url === address ? url : '') });
  return new Worker(policy?.createScriptURL(address) ?? address);
}
let policy: { createScriptURL(url: string): string } | undefined;

/** Tokens run over the ends of lines. */
function byLine(
  indexes: readonly number[],
  text: string,
  tokens: readonly Token[],
): ReadonlyMap<number, readonly Token[]> {
  const lines = new Map<number, Token[]>();
  let line: Token[] = [];
  let place = 0;
  let at = 0;
  for (const [length, kind] of tokens) {
    const parts = text.slice(at, at + length).split('\n');
    at += length;
    parts.forEach((part, index) => {
      if (index > 0) {
        lines.set(indexes[place++] ?? -1, line);
        line = [];
      }
      if (part !== '') line.push([part.length, kind]);
    });
  }
  lines.set(indexes[place] ?? -1, line);
  return lines;
}
