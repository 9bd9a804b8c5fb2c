import { readAudit } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** An agent that called longer ago has most likely ended. */
const RECENT_MS = 10 * 60_000;

/** Says that an agent may have a sandbox open that is about to go; `undefined` when its last call was no agent's, or is long ago. */
export async function lastAgentCall(
  litterbox: Performer,
  sandbox: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  // Whatever is wrong with the sandbox, what follows says it better.
  const entries = await litterbox.perform(readAudit, { sandbox, limit: 1 }, { signal }).catch(() => []);
  signal?.throwIfAborted();
  const [last] = entries;
  const ageMs = last?.actor === 'mcp' ? Date.now() - last.atMs : RECENT_MS;
  if (ageMs >= RECENT_MS) return undefined;
  return `An agent used it ${Math.max(0, Math.round(ageMs / 1000))} s ago; its next call gets an error that says what became of the sandbox.`;
}
