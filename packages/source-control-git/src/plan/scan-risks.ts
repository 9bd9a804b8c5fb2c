import type { FileChange, ObjectId, RiskyChange } from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import { nulFields } from '../git/nul-fields.ts';
import type { ConfiguredPaths } from '../person/configured-paths.ts';
import type { PathStep } from '../store/read-diff.ts';
import { installScripts } from './install-scripts.ts';
import { HUGE_BYTES, type RiskFacts, riskyChanges } from './risky-changes.ts';
import type { Store } from '../store/store.ts';
import { pathsWithUnseen } from './unseen-lines.ts';
import type { WrittenFiles } from './written-files.ts';

const INSTALLED = 'is run by a script of package.json when packages are installed';

/** What of the changes between two trees can run code here. */
export async function scanRisks(
  store: Store,
  changes: readonly FileChange[],
  steps: readonly PathStep[],
  { sizes, largeFiles }: WrittenFiles,
  resultTree: ObjectId,
  configured: ConfiguredPaths,
  signal: AbortSignal | undefined,
): Promise<readonly RiskyChange[]> {
  if (changes.length === 0) return [];
  const byPath = new Map(steps.map((step) => [step.path, step]));
  const targets = new Map<ByteString, string>();
  for (const { path, new: next } of steps) {
    if (next?.mode !== '120000' || sizes.has(next.oid)) continue;
    targets.set(path, (await store.reader.blob(next.oid)).toString());
  }
  // One after the other: 80,000 at once are a tenth of all memory that there may be.
  const facts = function* (): Generator<RiskFacts, void, undefined> {
    for (const change of changes) {
      const step = byPath.get(toByteString(change.path));
      const entry = step?.new ?? step?.old;
      const linkTarget = step && targets.get(step.path);
      const large = step?.new && largeFiles.get(step.new.oid);
      yield {
        change,
        mode: entry?.mode ?? '100644',
        sizeBytes: large?.sizeBytes ?? (entry && sizes.get(entry.oid)) ?? 0,
        isShown: large === undefined || large.content !== undefined,
        wasExecutable: step?.old?.mode === '100755',
        ...(linkTarget === undefined ? {} : { linkTarget }),
      };
    }
  };
  const paths = new Set<string>();
  const listing = store.stream(['ls-tree', '-r', '-z', '--name-only', '--full-tree', resultTree], { signal });
  for await (const some of nulFields(listing)) for (const path of some) paths.add(fromByteString(path));
  const contents = new Map([...largeFiles.values()].map(({ sizeBytes, content }) => [content?.blob, sizeBytes]));
  const isRead = (oid: ObjectId) => (contents.get(oid) ?? sizes.get(oid) ?? 0) <= HUGE_BYTES;
  const read = steps.map((step) => {
    const blob = step.new && largeFiles.get(step.new.oid)?.content?.blob;
    return step.new && blob ? { ...step, new: { ...step.new, oid: blob } } : step;
  });
  const isInstalled = await installScripts(store, resultTree, paths, sizes);
  return riskyChanges(facts(), {
    changes,
    allPaths: paths,
    namedElsewhere: (path) => configured.reasonOf(path) ?? (isInstalled(path) ? INSTALLED : undefined),
    withUnseen: await pathsWithUnseen(store, read, isRead, signal),
  });
}
