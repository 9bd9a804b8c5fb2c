import { setTimeout as sleep } from 'node:timers/promises';
import type { AttachedProcess, OutputChunk } from 'litterbox';

type Running = AttachedProcess['process'];

/** After a program's end its last output is waited for so long: what it left in the background may hold the pipe for ever. */
const LAST_OUTPUT_MS = 250;
const LOOK_MS = 50;
/** More than the pipes on the way hold comes from the background. */
const LAST_OUTPUT_BYTES = 2 ** 20;

/** A program that has ended. */
export interface Ended {
  readonly exit: Awaited<Running['exit']>;
  /** Resolves when what it left in the background prints no more either. */
  readonly silent: Promise<void>;
}

/**
 * Passes on what a program prints, and resolves when it has ended and all that it printed itself was taken. Time that the taker needs does not
 * count as waiting.
 *
 * @param take resolves when more may come; what it throws rejects at once, and the caller ends the program
 */
export async function passedOn(process: Running, take: (chunk: OutputChunk) => Promise<void>): Promise<Ended> {
  let hasExited = false;
  let lastBytes = 0;
  let isTaking = false;
  let isSilent = false;
  const silent = (async () => {
    for await (const chunk of process) {
      isTaking = true;
      await take(chunk);
      isTaking = false;
      if (hasExited) lastBytes += chunk.bytes.length;
    }
    isSilent = true;
  })();
  silent.catch(() => {}); // heard below, or by who waits for it
  // A program that nobody listens to any more may wait for ever.
  const failed = silent.then(() => new Promise<never>(() => {}));
  const exit = await Promise.race([process.exit, failed]);
  hasExited = true;
  const isOver = () => isSilent || lastBytes >= LAST_OUTPUT_BYTES;
  let waitedMs = 0;
  while (waitedMs < LAST_OUTPUT_MS) {
    if (isOver()) break;
    const patience = new AbortController();
    const looked = sleep(LOOK_MS, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([silent, looked]);
    patience.abort();
    if (!isTaking) waitedMs += LOOK_MS;
  }
  return { exit, silent };
}
