import type { IntegrationPlan, ObjectId, SandboxId } from '@litterbox/core/provider';
import { type SandboxMeta, sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UntakenWork } from './untaken-work.ts';

/** Tells of commits of the base that HEAD does not have. They stay where they are. */
export async function unmergedBase(
  store: Store,
  id: SandboxId,
  { base }: SandboxMeta,
  work: UntakenWork,
  head: ObjectId,
  signal: AbortSignal | undefined,
): Promise<Pick<IntegrationPlan, 'unmergedBase'>> {
  if (work.isHeld) return {};
  const commit = store.refs.read(sandboxRefs(id).pin) ?? base.commit;
  const listed = await store.output(['rev-list', '--count', commit, '--not', head], { signal });
  const commits = Number(listed.toString());
  return commits > 0 ? { unmergedBase: { commits, ...(base.headRef && { headRef: base.headRef }) } } : {};
}
