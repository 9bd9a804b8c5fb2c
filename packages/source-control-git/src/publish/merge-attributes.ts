import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { readAttributes } from '../person/read-attributes.ts';
import { compareTrees, MAX_COMPARED_BYTES, type PathStep } from '../store/read-diff.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
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
  const sides: ReadonlyMap<ByteString, PathStep>[] = [];
  for (const side of trees.ours === trees.base ? [] : [trees.ours, trees.theirs]) {
    const steps = new Map<ByteString, PathStep>();
    const onStep = (step: PathStep) => void steps.set(step.path, step);
    await compareTrees(store, [trees.base, side], { signal, onStep, isCounted: false });
    sides.push(steps);
  }
  const paths = new Set(sides.flatMap((steps) => [...steps.keys()]));
  const options = { setting: 'user', isCached: false, signal } as const;
  const lines: string[] = [];
  for await (const { path, attribute, value } of readAttributes(user.plumbing, ATTRIBUTES, [...paths], options)) {
    const size = MARKER_SIZE.test(value) ? `conflict-marker-size=${value}` : undefined;
    const said = attribute === 'merge' ? BUILT_IN[value] : size;
    if (said !== undefined) lines.push(`${patternOf(path)} ${said}\n`);
  }
  // The last line that names a path counts.
  for (const path of await unmergedPaths(store, sides, signal)) lines.push(`${patternOf(path)} -merge\n`);
  return lines.join('');
}

/**
 * Paths whose lines git shall not merge: files that both sides changed of which one is larger than {@link MAX_COMPARED_BYTES}, because git holds many
 * times their bytes. With one of those it is every path that a side made, for a file may have got its name there.
 */
async function unmergedPaths(
  store: Store,
  [ours = new Map(), theirs = new Map()]: readonly ReadonlyMap<ByteString, PathStep>[],
  signal: AbortSignal | undefined,
): Promise<readonly ByteString[]> {
  const both = [...ours.values()].flatMap((step) => {
    const other = theirs.get(step.path);
    return other ? [[step.path, [step.old, step.new, other.new].flatMap((file) => file?.oid ?? [])] as const] : [];
  });
  const sizes = new Map<ObjectId, number>();
  const asked = new Set(both.flatMap(([, oids]) => oids));
  for await (const [oid, bytes] of readBlobSizes(store, [...asked], signal)) sizes.set(oid, bytes);
  const large = both.filter(([, oids]) => oids.some((oid) => (sizes.get(oid) ?? 0) > MAX_COMPARED_BYTES));
  if (large.length === 0) return [];
  const made = [...ours.values(), ...theirs.values()].filter((step) => step.old === undefined);
  return [...new Set([...large.map(([path]) => path), ...made.map(({ path }) => path)])];
}

/** A pattern that this path alone matches, quoted as git quotes in C's way: every byte that is no letter or digit. */
function patternOf(path: ByteString): string {
  const literal = path.replace(/[\\*?[\]]/g, '\\$&');
  const quoted = literal.replace(/[^\w./-]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"/${quoted}"`;
}
