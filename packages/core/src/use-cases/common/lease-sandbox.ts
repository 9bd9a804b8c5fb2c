import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';

type Named = Pick<SandboxRecord, 'id' | 'slug'>;

/** After so long somebody who waits is told for whom. */
const TOLD_AFTER_MS = 500;

/**
 * Waits until no other call is at work in the sandbox.
 *
 * @throws LitterboxError `BUSY` when that takes longer than the caller waits.
 */
export async function leaseSandbox(
  state: StateStore,
  sandbox: Named,
  purpose: string,
  { signal, onProgress, patienceMs }: ProgressOptions = {},
): Promise<Lease> {
  let isWaiting = true;
  const tell = async () => {
    const holder = await holderOf(state, sandbox).catch(() => undefined);
    if (isWaiting && holder) onProgress?.({ step: 'wait', message: `waiting for ${holder.what}${holder.who}` });
  };
  const timer = onProgress && setTimeout(() => void tell(), TOLD_AFTER_MS);
  try {
    return await state.lease(`sandbox:${sandbox.id}`, purpose, {
      signal,
      ...(patienceMs !== undefined && { waitMs: patienceMs }),
    });
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    const { waitMs, isOwn } = error.details.facts ?? {};
    const after = typeof waitMs === 'number' ? ` Gave up after ${Math.round(waitMs / 100) / 10} s.` : '';
    throw new LitterboxError('BUSY', `${busyText(sandbox, holderIn(error))}${after}`, {
      operation: 'sandbox.lease',
      hint: isOwn === true ? 'Wait for that call to end.' : 'Wait longer, as with --wait 5m, or try again later.',
      ...(error.details.facts && { facts: error.details.facts }),
    });
  } finally {
    isWaiting = false;
    clearTimeout(timer);
  }
}

/** The holder of a sandbox's lease. */
export interface LeaseHolder {
  /** The words of a command; for another call, what it does. */
  readonly what: string;
  /** ` (process 12)`; empty when it cannot be told. */
  readonly who: string;
}

/** Asked without waiting. Nothing when nobody is at work. */
export async function holderOf(state: StateStore, sandbox: Named): Promise<LeaseHolder | undefined> {
  try {
    await using _lease = await state.lease(`sandbox:${sandbox.id}`, 'look', { waitMs: 0 });
    return undefined;
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    return holderIn(error);
  }
}

export const busyText = ({ slug }: Pick<Named, 'slug'>, { what, who }: LeaseHolder): string =>
  `${slug} is busy: ${what} is still running${who}.`;

function holderIn({ details }: LitterboxError): LeaseHolder {
  const { holderPurpose: purpose, holderPid: pid, isOwn } = details.facts ?? {};
  if (typeof purpose !== 'string') return { what: 'another call', who: '' };
  const what = shown(purpose.replace(/^(?:run|bash|shell): /, ''));
  return { what, who: isOwn === true ? ' (this process)' : ` (process ${String(pid)})` };
}
