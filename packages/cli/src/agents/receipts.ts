import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './config-file.ts';

/**
 * What an installation did to a file, so that it can be taken back to the byte: an empty table that we made and one that the person
 * had look the same. Holds what was put in and what stood in that place, never the rest of the file, which may have secrets.
 */
export interface Receipt {
  readonly path: string;
  readonly isCreatedFile: boolean;
  readonly createdDirectories: readonly string[];
  /** How many of the tables around the entry were made with it. */
  readonly createdLevels: number;
  /** Of a list: what was added to it. */
  readonly added?: readonly string[];
  /** As long as nobody else has changed the file since. */
  readonly undo?: Undo;
}

export interface Undo {
  /** Of the file's text after the installation. */
  readonly hash: string;
  readonly offset: number;
  readonly inserted: string;
  readonly replaced: string;
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The one stretch in which two texts differ. */
export function undoOf(before: string, after: string): Undo {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return {
    hash: hashOf(after),
    offset: start,
    inserted: after.slice(start, after.length - end),
    replaced: before.slice(start, before.length - end),
  };
}

/** The text as it was before, if it is what the installation left. */
export function undone(text: string, { hash, offset, inserted, replaced }: Undo): string | undefined {
  if (hashOf(text) !== hash) return undefined;
  return text.slice(0, offset) + replaced + text.slice(offset + inserted.length);
}

/** The text with what was put in taken out, wherever it stands now. */
export function moved(text: string, { inserted, replaced }: Undo): string | undefined {
  const at = text.indexOf(inserted);
  if (inserted === '' || at === -1 || text.indexOf(inserted, at + 1) !== -1) return undefined;
  return text.slice(0, at) + replaced + text.slice(at + inserted.length);
}

/** Receipts in the state directory, one file each. */
export class Receipts {
  readonly #state: string;
  readonly #prepare: (state: string) => void;

  /** @param prepare makes the state directory if it is missing; called before something is written into it */
  constructor(state: string, prepare: (state: string) => void = () => {}) {
    this.#state = state;
    this.#prepare = prepare;
  }

  /** @param key what it is for: file and entry */
  async read(key: string): Promise<Receipt | undefined> {
    try {
      return JSON.parse(await readFile(this.#file(key), 'utf8')) as Receipt;
    } catch {
      return undefined; // none, or none that can be read: the entry is taken out by its key then
    }
  }

  async write(key: string, receipt: Receipt): Promise<void> {
    this.#prepare(this.#state);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await replaceFile(this.#file(key), JSON.stringify(receipt), 0o600);
  }

  async remove(key: string): Promise<void> {
    await rm(this.#file(key), { force: true });
  }

  get #directory(): string {
    return join(this.#state, 'agents');
  }

  #file(key: string): string {
    return join(this.#directory, `${hashOf(key)}.json`);
  }
}
