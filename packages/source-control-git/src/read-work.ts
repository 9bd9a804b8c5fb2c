import { LitterboxError, type RecordedWork, type SandboxId } from '@litterbox/core/provider';
import { compareTrees } from './read-diff.ts';
import { readHistory, sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';

const NOTHING: RecordedWork = { revisions: 0, unmilestoned: 0, files: 0, addedLines: 0, removedLines: 0 };

export async function readWork(store: Store, id: SandboxId, signal: AbortSignal | undefined): Promise<RecordedWork> {
  const refs = sandboxRefs(id);
  const base = store.refs.read(refs.base);
  if (base === undefined || store.refs.read(refs.meta) === undefined)
    throw new LitterboxError('NOT_FOUND', `There is no history of sandbox ${id}.`, { operation: 'history.read' });
  if (store.refs.read(refs.tip) === base) return NOTHING;
  const { base: began, tip, unmilestoned } = await readHistory(store, id);
  const changes = await compareTrees(store, [began.tree, tip.tree], { ...(signal && { signal }) });
  const sum = (key: 'addedLines' | 'removedLines') => changes.reduce((total, change) => total + (change[key] ?? 0), 0);
  return {
    revisions: tip.number,
    unmilestoned,
    files: changes.length,
    addedLines: sum('addedLines'),
    removedLines: sum('removedLines'),
  };
}
