import { LitterboxError } from '@litterbox/core/agent';
import type { Performer } from 'litterbox/agent';
import pLimit from 'p-limit';

/** Calls that only look: each takes a shell in its sandbox. */
const READS_AT_ONCE = 8;
/** Calls that may run for long, in different sandboxes; in one they follow each other. */
const WRITES_AT_ONCE = 64;
/** What waits beyond that is a client gone wild. */
const MAX_WAITING = 2_000;

/**
 * The same performer, with so many calls at once and the rest in turn. Calls that look never wait for ones that run. Disposing takes
 * back what goes on, and waits until what it did is recorded.
 */
export function boundedPerformer(litterbox: Performer): Performer {
  const queues = { read: pLimit(READS_AT_ONCE), write: pLimit(WRITES_AT_ONCE) };
  const closing = new AbortController();
  const going = new Set<Promise<unknown>>();
  return {
    async perform(operation, input, options) {
      const queue = operation.effect === 'read' ? queues.read : queues.write;
      if (queue.pendingCount >= MAX_WAITING) {
        throw new LitterboxError('BUSY', `${queue.pendingCount} calls are already waiting.`, {
          operation: 'mcp.call',
          hint: 'Wait for answers before asking for more.',
        });
      }
      const signal = options?.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
      return await queue(async () => {
        signal.throwIfAborted(); // taken back while it waited
        const call = litterbox.perform(operation, input, { ...options, signal });
        going.add(call);
        try {
          return await call;
        } finally {
          going.delete(call);
        }
      });
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('The server ends.'));
      await Promise.allSettled(going);
      await litterbox[Symbol.asyncDispose]();
    },
  };
}
