import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from './lease-sandbox.ts';

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
  sandbox: Pick<SandboxRecord, 'id' | 'slug'>,
  purpose: string,
  options?: ProgressOptions,
): Promise<Lease> {
  const { patienceMs = PATIENCE_MS } = options ?? {};
  try {
    return await leaseSandbox(state, sandbox, purpose, { ...options, patienceMs });
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    throw new LitterboxError('SANDBOX_ACTIVE', error.message, {
      operation: `sandbox.${purpose}`,
      hint: advice`Try again when that is done, wait for it with --wait 5m, or end it: ${step('sandbox-stop', { sandbox: sandbox.slug })}.`,
      ...(error.details.facts && { facts: error.details.facts }),
    });
  }
}
