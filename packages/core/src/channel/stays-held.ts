import type { OutputListener } from './channel-command.ts';
import type { Worker } from './worker.ts';

/**
 * Output by way of another process, as through `exec > >(tee log)`, comes when that has read its own end: so long is waited for whatever
 * still holds the output. A server in the background holds it for ever.
 */
const LAST_OUTPUT_WAITS_MS = [5, 15, 40, 120, 320];

/** Passes on the last output of a command whose output another process still holds. Resolves with whether one goes on holding it. */
export async function staysHeld(worker: Worker, onOutput: OutputListener): Promise<boolean> {
  for (const waitMs of LAST_OUTPUT_WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const end = await worker.ask('lb_before=', onOutput).catch(() => undefined); // lost: it is found out by who uses it next
    if (!end?.isHeld) return false;
  }
  worker.hush();
  return true;
}
