import type { ByteString } from '../git/byte-text.ts';
import { fromByteString } from '../git/byte-text.ts';
import { parentOf } from '../ignore/ignore-matcher.ts';
import { isSpecialName } from '../objects/path-rules.ts';
import type { TreeLookup } from '../objects/tree-lookup.ts';
import { isGitlink, isTree, type TreeEntry } from '../objects/tree-object.ts';
import type { Candidate } from './changed-workspace.ts';
import type { Wanted } from './fetch-contents.ts';
import type { RecordWarnings } from './record-warnings.ts';

/**
 * Paths whose contents are asked for in one go: few enough that what is held for them is still young when it is let go, and as many
 * as go into one archive of the sandbox.
 */
const BATCH = 1000;

export type Named = readonly [ByteString, Candidate];

export function* batchesOf(candidates: Iterable<Named>): Generator<readonly Named[], void, undefined> {
  let batch: Named[] = [];
  for (const named of candidates) {
    batch.push(named);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A file that may be recorded. */
export interface Placed {
  readonly path: ByteString;
  readonly executable: boolean;
  readonly sizeBytes: number;
  /** The tip's entry there. */
  readonly old: TreeEntry | undefined;
}

/** Files the tip has, and files it has not. What can never be recorded is neither. */
export async function divideFiles(
  candidates: readonly Named[],
  tip: TreeLookup,
  warnings: RecordWarnings,
): Promise<{ readonly tracked: readonly Placed[]; readonly untracked: readonly Placed[] }> {
  const tracked: Placed[] = [];
  const untracked: Placed[] = [];
  let parent: ByteString | undefined;
  let entries: ReadonlyMap<ByteString, TreeEntry> | undefined;
  let submodule: ByteString | undefined;
  for (const [path, { type, executable, sizeBytes }] of candidates) {
    // Files come by directory: what is true of all in one is asked once.
    if (parent !== parentOf(path)) {
      parent = parentOf(path);
      submodule = await tip.gitlinkAbove(path);
      entries = await tip.directory(parent);
    }
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (submodule !== undefined) {
      warnings.add({ type: 'refused-path', code: 'PATH_SUBMODULE_UNSUPPORTED', path: fromByteString(path) });
    } else if (type === 'symlink' && isSpecialName(name)) {
      warnings.add({ type: 'refused-path', code: 'PATH_SPECIAL_SYMLINK', path: fromByteString(path) });
    } else {
      const old = entries?.get(name);
      const list = old && !isTree(old) && !isGitlink(old) ? tracked : untracked;
      list.push({ path, executable, sizeBytes, old });
    }
  }
  return { tracked, untracked };
}

export function wantedOf(placed: readonly Placed[]): ReadonlyMap<ByteString, Wanted> {
  const wanted = new Map<ByteString, Wanted>();
  for (const { path, executable, old } of placed) {
    wanted.set(path, { executable, known: old && !isTree(old) ? old.oid : undefined });
  }
  return wanted;
}
