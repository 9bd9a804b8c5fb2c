import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Lease, StateStore } from '../../ports/state/state-store.ts';

/** The lease that the program holds with which an ephemeral sandbox goes. The kernel releases it when that program ends. */
export const ephemeralLease = (id: SandboxId): string => `ephemeral:${id}`;

/**
 * Makes a sandbox while its lease is held, from before there is a record: no other program may find one that nobody holds. It is released
 * where the making fails, and else the caller's.
 *
 * @param id of an ephemeral one
 */
export async function holding<Made>(
  state: StateStore,
  id: SandboxId | undefined,
  options: CallOptions | undefined,
  make: (hold: Lease | undefined) => Promise<Made>,
): Promise<Made> {
  const hold = id && (await state.lease(ephemeralLease(id), 'ephemeral', options));
  try {
    return await make(hold);
  } catch (error) {
    if (hold) await hold[Symbol.asyncDispose]();
    throw error;
  }
}
