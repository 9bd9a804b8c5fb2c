import { LitterboxError } from '@litterbox/core/agent';
import type { Performer } from 'litterbox/agent';
import pLimit from 'p-limit';

/** Calls that only look: each takes a shell in its sandbox. */
const READS_AT_ONCE = 8;
/** Calls that may run for long, in different sandboxes; in one they follow each other. */
const WRITES_AT_ONCE = 64;
/** What waits beyond that is a client gone wild. */
const MAX_WAITING = 2_000;

/** The same performer, with so many calls at once and the rest in turn. Calls that look never wait for ones that run. */
export function boundedPerformer(litterbox: Performer): Performer {
  const queues = { read: pLimit(READS_AT_ONCE), write: pLimit(WRITES_AT_ONCE) };
  return {
    async perform(operation, input, options) {
      const queue = operation.effect === 'read' ? queues.read : queues.write;
      if (queue.pendingCount >= MAX_WAITING) {
        throw new LitterboxError('BUSY', `${queue.pendingCount} calls wait already.`, {
          operation: 'mcp.call',
          hint: 'Wait for answers before asking for more.',
        });
      }
      return await queue(async () => {
        options?.signal?.throwIfAborted(); // taken back while it waited
        return await litterbox.perform(operation, input, options);
      });
    },
    [Symbol.asyncDispose]: () => litterbox[Symbol.asyncDispose](),
  };
}
