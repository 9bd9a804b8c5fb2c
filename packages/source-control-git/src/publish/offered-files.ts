import type { FileChange, OfferedFile } from '@litterbox/core/provider';
import { toByteString } from '../git/byte-text.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';
import { readFileChanges } from './file-changes.ts';
import { divisibleChanges, type WholeApply } from './partial-tree.ts';

/** The files of an apply, each with its changes, one after the other as they are asked for: each takes a run of git. */
export async function* offeredFiles(
  store: Store,
  whole: WholeApply & { readonly steps: readonly PathStep[] },
  changes: readonly FileChange[],
  signal: AbortSignal | undefined,
): AsyncGenerator<OfferedFile, void, undefined> {
  const steps = new Map(whole.steps.map((step) => [step.path, step] as const));
  for (const change of changes) {
    const step = steps.get(toByteString(change.path));
    if (!step) continue;
    const parts = await divisibleChanges(store, whole, step, signal);
    const shown = parts ?? (await readFileChanges(store, [whole.head, whole.result], step.path, signal));
    yield { path: change.path, change, hunks: shown?.hunks ?? [], ...(parts && { digest: parts.digest }) };
  }
}
