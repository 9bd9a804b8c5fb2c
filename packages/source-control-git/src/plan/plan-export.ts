import { type ExportPlan, isLitterboxError, type SandboxId } from '@litterbox/core/provider';
import { readConfiguredPaths } from '../person/configured-paths.ts';
import { exportedTree } from '../publish/export-tree.ts';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import { madePointers } from '../large-files/made-pointers.ts';
import { scanRisks } from './scan-risks.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import { readMeta, readMilestones } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { readWritten, withLargeFiles } from './written-files.ts';

/** Compared with what the person has at HEAD, whatever the sandbox began with. */
export async function planExport(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  signal: AbortSignal | undefined,
): Promise<ExportPlan> {
  const tree = await exportedTree(store, id);
  const revision = (await readMilestones(store, id)).at(-1)?.number ?? 0;
  const head = await resolveHead(user, readHeadRef(user, { signal }), { signal }).catch((error: unknown) => {
    if (isLitterboxError(error, 'UNBORN_HEAD')) return undefined;
    throw error;
  });
  const known = head === undefined ? (await readMeta(store, id)).base.tree : await store.commitTree(head);
  const steps: PathStep[] = [];
  const compared = await compareTrees(store, [known, tree], { signal, onStep: (step) => steps.push(step) });
  const made = await madePointers(store, id, () => true, signal);
  const files = await readWritten(store, steps, made.values(), signal);
  const changes = withLargeFiles(compared, steps, files);
  const configured = await readConfiguredPaths(user, signal);
  return { tree, revision, risky: await scanRisks(store, changes, steps, files, tree, configured, signal) };
}
