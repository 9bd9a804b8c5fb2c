import { encodeRaw } from '@litterbox/core/provider';
import type { ClockMoment } from './clock-mark.ts';
import { toldMoment } from './told-clock.ts';

/** The findings of one walk. */
export interface Walk {
  /** Of now, before anything was looked at. */
  readonly now: ClockMoment;
  /** Each as `find` prints it, and the name of the layer that it is in; those of the uppermost, which have none, come first. */
  readonly entries: readonly { readonly text: string; readonly layer?: string }[];
  /** Entries that the uppermost layer holds, changed or not. */
  readonly held: number;
  /** Of some small files among the entries, by their place in them. */
  readonly contents: ReadonlyMap<number, Uint8Array>;
  /** Entries of directories of the workspace that changed, by path: none where there are many, or many entries. */
  readonly listed: ReadonlyMap<string, readonly (readonly [letter: string, name: string])[]>;
}

/** Reads the texts of an answer to `W`, as the session program and the resident walker give them. Undefined where they tell no time. */
export function parseWalk(texts: readonly string[]): Walk | undefined {
  let now: ClockMoment | undefined;
  const entries: Walk['entries'][number][] = [];
  let held = 0;
  let layer: { readonly layer?: string } = {};
  const contents = new Map<number, Uint8Array>();
  const listed = new Map<string, (readonly [letter: string, name: string])[]>();
  let children: (readonly [letter: string, name: string])[] = [];
  for (const text of texts) {
    if (text.startsWith('=')) contents.set(entries.length - 1, unescaped(encodeRaw(text.slice(1))));
    else if (text.startsWith('+')) children.push([text.slice(1, 2), text.slice(3)]);
    else if (text.startsWith('T ')) now = toldMoment(text);
    else if (text.startsWith('D ')) listed.set(text.slice(2), (children = []));
    else if (text.startsWith('N ')) held = COUNT.test(text.slice(2)) ? Number(text.slice(2)) : 0;
    else if (text.startsWith('L ')) layer = { layer: text.slice(2) };
    else entries.push({ text, ...layer });
  }
  return now && { now, entries, held, contents, listed };
}

/** A content as it was: SOH and the next byte stand for NUL and SOH. */
function unescaped(bytes: Uint8Array): Uint8Array {
  let from = bytes.indexOf(1);
  if (from === -1) return bytes;
  let to = from;
  for (; from < bytes.length; from += 1)
    bytes[to++] = bytes[from] === 1 ? (bytes[++from] ?? 1) - 1 : (bytes[from] ?? 0);
  return bytes.subarray(0, to);
}

/** Entries that a layer holds. */
const COUNT = /^\d{1,12}$/;
