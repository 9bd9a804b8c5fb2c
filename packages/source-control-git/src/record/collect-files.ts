import { LitterboxError, visibleName } from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { addEdit } from '../objects/edit-tree.ts';
import { isTree, type TreeEntry } from '../objects/tree-object.ts';
import type { Store } from '../store/store.ts';
import { batchesOf, divideFiles, type Named, type Placed, wantedOf } from './divide-files.ts';
import { isRule, MAX_FILE_BYTES } from './fetch-contents.ts';
import { RecordWarnings } from './record-warnings.ts';
import { OPERATION, type Recording } from './recording.ts';

/** A new file of this size is mentioned: few are meant to be kept. */
const LARGE_FILE_BYTES = 1024 * 1024;
/** Changed files of one revision: more than the largest trees of source code have, and less than a minute's work. */
const MAX_FILES = 250_000;

export interface CollectedFiles {
  readonly changedFiles: number;
  /** Files with ignore rules that the revision has. */
  readonly recordedRules: ReadonlySet<ByteString>;
}

/**
 * Fetches the changed files that git does not ignore, and makes them edits of the tip's tree.
 *
 * @throws LitterboxError `RESOURCE_EXHAUSTED` where there are more than a revision takes
 */
export async function collectFiles(recording: Recording): Promise<CollectedFiles> {
  const { scanned, ruleFiles, store, warnings } = recording;
  if (scanned.candidates.size > MAX_FILES) await requireFewFiles(recording);
  let changedFiles = 0;
  const recordedRules = new Set<ByteString>();
  // In batches, so that what is needed for one path is not held for all of them.
  for (const batch of batchesOf(scanned.candidates)) {
    recording.signal?.throwIfAborted();
    const kept = await keptOf(recording, batch, warnings);
    const contents = await recording.fetch(wantedOf(kept.filter((file) => isWanted(recording, file))));
    for (const { path, old } of kept) {
      const content = contents.get(path) ?? ruleFiles.get(path);
      if (!content) continue;
      if (isRule(path)) recordedRules.add(path);
      if (old?.oid === content.oid && old.mode === content.mode) continue;
      changedFiles++;
      addEdit(scanned.edits, path, { type: 'entry', mode: content.mode, oid: content.oid });
      if (!old && content.sizeBytes > LARGE_FILE_BYTES)
        warnings.add({ type: 'large-new-file', path: fromByteString(path), sizeBytes: content.sizeBytes });
    }
  }
  for (const entry of scanned.deleted.values()) changedFiles += await countFiles(store, entry);
  return { changedFiles, recordedRules };
}

/** Those of some changed files that git does not ignore. */
async function keptOf(
  recording: Recording,
  batch: readonly Named[],
  warnings: RecordWarnings,
): Promise<readonly Placed[]> {
  const { tracked, untracked } = await divideFiles(batch, recording.tip, warnings);
  const ignored = await recording.ignored(untracked.map(({ path }) => ({ path, isDirectory: false })));
  return [...tracked, ...untracked.filter(({ path }) => !ignored.has(path))];
}

function isWanted({ ruleFiles, warnings }: Recording, { path, sizeBytes }: Placed): boolean {
  if (ruleFiles.has(path)) return false;
  if (sizeBytes <= MAX_FILE_BYTES) return true;
  warnings.add({ type: 'refused-path', code: 'FILE_TOO_LARGE', path: fromByteString(path) });
  return false;
}

async function requireFewFiles(recording: Recording): Promise<void> {
  const kept: ByteString[] = [];
  for (const batch of batchesOf(recording.scanned.candidates))
    for (const { path } of await keptOf(recording, batch, new RecordWarnings())) kept.push(path);
  if (kept.length > MAX_FILES) throw tooManyFiles(kept);
}

/** Before anything of them is asked for: what one revision takes of memory and time grows with their number. */
function tooManyFiles(paths: readonly ByteString[]): LitterboxError {
  const counts = new Map<ByteString, number>();
  for (const path of paths) {
    const top = path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : '';
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const [most, files] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
  const where = most === '' ? 'the top of the workspace' : visibleName(fromByteString(most));
  return new LitterboxError(
    'RESOURCE_EXHAUSTED',
    `${paths.length} files have changed that no rule ignores, ${files} of them in ${where}; a revision takes ${MAX_FILES} at most.`,
    {
      operation: OPERATION,
      hint: 'Have git ignore what is installed or built (a .gitignore in the workspace), or remove it; the next call records what is left.',
      facts: { files: paths.length, maxFiles: MAX_FILES },
    },
  );
}

async function countFiles(store: Store, entry: TreeEntry): Promise<number> {
  if (!isTree(entry)) return 1;
  let count = 0;
  for (const child of (await store.reader.tree(entry.oid)).values()) count += await countFiles(store, child);
  return count;
}
