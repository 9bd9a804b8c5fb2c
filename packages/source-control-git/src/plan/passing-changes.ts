import type { FileChange, ObjectId, RiskyChange } from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import type { ConfiguredPaths } from '../person/configured-paths.ts';
import type { LargeFileContent } from '../large-files/checked-in-trees.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import { scanRisks } from './scan-risks.ts';
import type { Store } from '../store/store.ts';
import { readWritten, withLargeFiles } from './written-files.ts';

const REASON = 'is in a commit on the way and not in the last one: a diff does not show it';

/** Commits on the way whose files are looked into: each takes as long as the last one, and an agent makes as many as it likes. */
const MAX_LOOKED = 32;
const UNREAD = `was not looked into: more than ${MAX_LOOKED} commits are on the way`;

/** What a history gets and no diff of its ends shows. */
export interface PassingChanges {
  readonly paths: readonly string[];
  /** Those of them that can run code where such a commit is checked out, or that hide what they hold. */
  readonly risky: readonly RiskyChange[];
}

/**
 * Files that commits on the way have and the last one has not: added and removed again, or changed and put back.
 *
 * @param onto the tree on which the first of the commits stands
 * @param trees of the commits, oldest first
 * @param contents of Git LFS to which the trees have pointers
 */
export async function passingChanges(
  store: Store,
  onto: ObjectId,
  trees: readonly ObjectId[],
  contents: readonly LargeFileContent[],
  configured: ConfiguredPaths,
  signal: AbortSignal | undefined,
): Promise<PassingChanges> {
  const last = trees.at(-1);
  if (last === undefined || trees.length === 1) return { paths: [], risky: [] };
  const byNames = { signal, isCounted: false };
  const inDiff = new Set((await compareTrees(store, [onto, last], byNames)).map(({ path }) => path));
  const isPassing = ({ path, status }: Pick<FileChange, 'path' | 'status'>) =>
    status !== 'deleted' && !inDiff.has(path);
  const paths = new Set<string>();
  const reasons = new Map<string, Set<string>>();
  const add = (path: string, more: readonly string[]) =>
    reasons.set(path, new Set([...(reasons.get(path) ?? []), ...more]));
  for (const [place, tree] of [...new Set(trees.slice(0, -1))].entries()) {
    if (place >= MAX_LOOKED) {
      for (const { path } of (await compareTrees(store, [onto, tree], byNames)).filter(isPassing)) {
        paths.add(path);
        add(path, [UNREAD]);
      }
      continue;
    }
    const steps: PathStep[] = [];
    const onStep = (step: PathStep) => steps.push(step);
    const changes = (await compareTrees(store, [onto, tree], { signal, onStep })).filter(isPassing);
    if (changes.length === 0) continue;
    for (const { path } of changes) paths.add(path);
    const own = steps.filter((step) => step.new && !inDiff.has(fromByteString(step.path)));
    const files = await readWritten(store, own, contents, signal);
    const risky = await scanRisks(store, withLargeFiles(changes, own, files), own, files, tree, configured, signal);
    for (const risk of risky) add(risk.path, risk.reasons);
  }
  return { paths: [...paths], risky: [...reasons].map(([path, its]) => ({ path, reasons: [...its, REASON] })) };
}
