import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { currentRecord } from '../common/change-record.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { assertUsable, type OpenSandboxes } from './open-sandboxes.ts';

/** Looks into a sandbox without its lease: when it fails and the sandbox was deleted meanwhile, that is the reason, whatever it looks like. */
export async function lookInto<Found>(
  { open, state }: { readonly open: OpenSandboxes; readonly state: StateStore },
  record: SandboxRecord,
  look: (opened: OpenedSandbox) => Promise<Found>,
  options?: CallOptions,
): Promise<Found> {
  try {
    return await look(await open.get(record, options));
  } catch (error) {
    options?.signal?.throwIfAborted();
    assertUsable(await currentRecord(state, record));
    throw error;
  }
}
