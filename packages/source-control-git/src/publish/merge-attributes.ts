import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { readAttributes } from '../person/read-attributes.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const ATTRIBUTES = ['merge', 'conflict-marker-size'];
const MARKER_SIZE = /^[1-9][0-9]{0,3}$/;
/** What git merges by itself (gitattributes(5), "Performing a three-way merge"). Other names are programs. */
const BUILT_IN: Readonly<Record<string, string>> = {
  union: 'merge=union',
  text: 'merge=text',
  set: 'merge',
  binary: '-merge',
  unset: '-merge',
};

/**
 * How the person's attributes say that the files of two sides merge, as lines of an attributes file with one path each.
 * They are those of their work tree and of their configuration. What the sandbox wrote into `.gitattributes` does not
 * count before it is merged, and a driver that is a program does not run.
 */
export async function readMergeAttributes(
  store: Store,
  user: UserRepository,
  trees: { readonly base: ObjectId; readonly ours: ObjectId; readonly theirs: ObjectId },
  signal: AbortSignal | undefined,
): Promise<string> {
  const sides = trees.ours === trees.base ? [] : [trees.ours, trees.theirs];
  const paths = new Set<ByteString>();
  for (const side of sides) {
    const names = await store.output(['diff-tree', '-r', '-z', '--name-only', '--no-renames', trees.base, side], {
      signal,
    });
    for (const path of names.toString('latin1').split('\0')) if (path !== '') paths.add(path);
  }
  const options = { setting: 'user', isCached: false, signal } as const;
  const lines: string[] = [];
  for await (const { path, attribute, value } of readAttributes(user.plumbing, ATTRIBUTES, [...paths], options)) {
    const size = MARKER_SIZE.test(value) ? `conflict-marker-size=${value}` : undefined;
    const said = attribute === 'merge' ? BUILT_IN[value] : size;
    if (said !== undefined) lines.push(`${patternOf(path)} ${said}\n`);
  }
  return lines.join('');
}

/** A pattern that this path alone matches, quoted as git quotes in C's way: every byte that is no letter or digit. */
function patternOf(path: ByteString): string {
  const literal = path.replace(/[\\*?[\]]/g, '\\$&');
  const quoted = literal.replace(/[^\w./-]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"/${quoted}"`;
}
