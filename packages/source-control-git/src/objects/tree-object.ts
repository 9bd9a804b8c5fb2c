import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import type { ObjectFormat } from './object-format.ts';

export type TreeMode = '40000' | '100644' | '100755' | '120000' | '160000';

export interface TreeEntry {
  /** As git writes it. Old repositories hold others, such as `100664`. */
  readonly mode: string;
  readonly name: ByteString;
  readonly oid: ObjectId;
  /** The entry as it was read, for writing it again. */
  readonly raw?: ByteString;
}

export const isTree = (entry: { readonly mode: string }): boolean => entry.mode === '40000';
export const isGitlink = (entry: { readonly mode: string }): boolean => entry.mode === '160000';
export const isSymlink = (entry: { readonly mode: string }): boolean => entry.mode === '120000';

export function parseTree(format: ObjectFormat, bytes: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const text = bytes.toString('latin1');
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(' ', at);
    const end = text.indexOf('\0', space);
    const next = end + 1 + format.byteLength;
    if (space < 0 || end < 0 || next > text.length) throw new Error('a tree object is malformed');
    const mode = text.slice(at, space);
    entries.push({
      mode: mode.startsWith('0') ? mode.replace(/^0+/, '') : mode,
      name: text.slice(space + 1, end),
      oid: bytes.toString('hex', end + 1, next) as ObjectId,
      raw: text.slice(at, next),
    });
    at = next;
  }
  return entries;
}

/** In git's order: a directory sorts as if its name ended in a slash. */
export function serializeTree(entries: Iterable<TreeEntry>): Buffer {
  const sorted = [...entries].map((entry) => ({ entry, key: isTree(entry) ? `${entry.name}/` : entry.name }));
  sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const text = sorted.map(({ entry }) => entry.raw ?? rawEntry(entry)).join('');
  return Buffer.from(text, 'latin1');
}

function rawEntry({ mode, name, oid }: TreeEntry): ByteString {
  return `${mode} ${name}\0${Buffer.from(oid, 'hex').toString('latin1')}`;
}
