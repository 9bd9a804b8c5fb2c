import { type CallOptions, type Clock, type Lease, LitterboxError, shown } from '@litterbox/core/provider';
import type { LeaseSlot, Owner, StateShelf } from './state-shelf.ts';

/** All who wait are in this process. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** Gives out leases, first come, first served. */
export function memoryLeases(shelf: StateShelf, clock: Clock, owner: Owner) {
  const free = (slot: LeaseSlot) => {
    slot.holder = undefined;
    const next = slot.waiting.shift();
    slot.isTaken = next !== undefined;
    next?.();
  };

  const waitedFor = async (slot: LeaseSlot, waitMs: number, options?: CallOptions): Promise<boolean> => {
    let hasTurn = false;
    let wake = () => {};
    const turn = new Promise<void>((resolve) => {
      wake = () => {
        hasTurn = true;
        resolve();
      };
    });
    slot.waiting.push(wake);
    const over = new AbortController();
    const signal = options?.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
    await Promise.race([turn, clock.sleep(waitMs, { signal }).catch(() => {})]);
    over.abort();
    if (!hasTurn) slot.waiting.splice(slot.waiting.indexOf(wake), 1);
    else if (options?.signal?.aborted) free(slot); // the turn came together with the abort
    options?.signal?.throwIfAborted();
    return hasTurn;
  };

  return {
    async take(
      resource: string,
      purpose: string,
      options?: CallOptions & { readonly waitMs?: number },
    ): Promise<Lease> {
      options?.signal?.throwIfAborted();
      const waitMs = options?.waitMs ?? MAX_SLEEP_MS;
      const slot = shelf.leases.get(resource) ?? { isTaken: false, holder: undefined, waiting: [] };
      shelf.leases.set(resource, slot);
      if (slot.isTaken && (waitMs === 0 || !(await waitedFor(slot, waitMs, options))))
        throw busy(resource, slot, waitMs);
      slot.isTaken = true;
      const holder = { purpose, owner };
      slot.holder = holder;
      return {
        resource,
        async [Symbol.asyncDispose]() {
          if (slot.holder === holder) free(slot);
        },
      };
    },

    /** As the kernel does it for a process that ended. */
    freeAll(): void {
      for (const slot of shelf.leases.values()) if (slot.holder?.owner === owner) free(slot);
    },
  };
}

function busy(resource: string, { holder }: LeaseSlot, waitMs: number): LitterboxError {
  const { pid } = process;
  const by = holder ? `process ${pid} (${holder.purpose})` : 'another process';
  return new LitterboxError('BUSY', `${shown(resource)} is in use by ${by} and was not free within ${waitMs} ms.`, {
    operation: 'state.lease',
    hint: 'Try again when it is done.',
    facts: { resource, waitMs, ...(holder && { holderPid: pid, holderPurpose: holder.purpose, isOwn: true }) },
  });
}
