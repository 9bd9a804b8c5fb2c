import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxChange, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';

/**
 * Changes a record although another process may change other parts of it at any moment: pausing takes no lease.
 *
 * @param change what to change, given the record as it is; nothing leaves it alone
 * @throws LitterboxError `SANDBOX_NOT_FOUND` when it was deleted meanwhile.
 */
export async function changeRecord(
  state: Pick<StateStore, 'get' | 'update'>,
  record: SandboxRecord,
  change: (now: SandboxRecord) => SandboxChange | undefined,
  options?: CallOptions,
): Promise<SandboxRecord> {
  for (let now = record; ; ) {
    const wanted = change(now);
    if (!wanted) return now;
    try {
      return await state.update(now, wanted, options);
    } catch (error) {
      if (!isLitterboxError(error, 'CONFLICT') && !isLitterboxError(error, 'NOT_FOUND')) throw error;
    }
    now = await currentRecord(state, now, options);
  }
}

/** The record as it is, for who has just taken the sandbox's lease. @throws LitterboxError `SANDBOX_NOT_FOUND` when it was deleted meanwhile. */
export async function currentRecord(
  state: Pick<StateStore, 'get'>,
  { id, slug }: Pick<SandboxRecord, 'id' | 'slug'>,
  options?: CallOptions,
): Promise<SandboxRecord> {
  const now = await state.get(id, options);
  if (now) return now;
  throw new LitterboxError('SANDBOX_NOT_FOUND', `The sandbox ${slug} was deleted in the meantime.`, {
    operation: 'sandbox.find',
    hint: advice`Its work is over. To start something new: ${step('sandbox-create')}.`,
  });
}
