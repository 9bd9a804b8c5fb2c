import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';

/**
 * What to throw for a failure in a sandbox: `SANDBOX_DELETING` when somebody deleted the sandbox while the call was at work in it,
 * because whatever else went wrong then follows from that.
 */
export async function deletedMeanwhile(
  state: StateStore,
  { id, slug }: Pick<SandboxRecord, 'id' | 'slug'>,
  cause: unknown,
): Promise<unknown> {
  const now = await state.get(id).catch(() => ({ state: undefined }));
  if (now && now.state !== 'deleting') return cause;
  return new LitterboxError(
    'SANDBOX_DELETING',
    `The sandbox ${slug} was deleted while this call was at work in it.`,
    { operation: 'sandbox.find', hint: advice`Its work is over. To start something new: ${step('sandbox-create')}.` },
    { cause },
  );
}
