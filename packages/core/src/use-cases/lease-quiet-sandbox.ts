import { isLitterboxError, LitterboxError } from '../domain/errors.ts';
import { shown } from '../domain/shown.ts';
import type { CallOptions } from '../ports/call.ts';
import type { Lease, SandboxRecord, StateStore } from '../ports/state-store.ts';

/** How long a call that is at work in a sandbox gets to end before a person is told of it. */
const PATIENCE_MS = 2000;

/**
 * Takes the lease of a sandbox that is about to go. Nobody's work is ended for it: what hangs is ended by stopping the sandbox, which
 * needs no lease.
 *
 * @param purpose what the sandbox goes for, one word: `delete`, `merge`
 * @throws LitterboxError `SANDBOX_ACTIVE` when a call is at work in it and does not end soon.
 */
export async function leaseQuietSandbox(
  state: StateStore,
  { id, slug }: Pick<SandboxRecord, 'id' | 'slug'>,
  purpose: string,
  options?: CallOptions,
): Promise<Lease> {
  try {
    return await state.lease(`sandbox:${id}`, purpose, { ...options, waitMs: PATIENCE_MS });
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    throw activeSandbox(slug, purpose, error);
  }
}

/** As who waited in vain for a sandbox's lease is told of it. */
export function activeSandbox(slug: string, purpose: string, { details }: LitterboxError): LitterboxError {
  const facts = details.facts ?? {};
  const { holderPurpose, holderPid: pid } = facts;
  const who =
    typeof holderPurpose === 'string' && typeof pid === 'number' ? `: ${shown(holderPurpose)}, process ${pid}` : '';
  return new LitterboxError('SANDBOX_ACTIVE', `Somebody is at work in the sandbox ${slug}${who}.`, {
    operation: `sandbox.${purpose}`,
    hint: `Try again when that is done, or end it: litterbox pause ${slug} --stop.`,
    facts,
  });
}
