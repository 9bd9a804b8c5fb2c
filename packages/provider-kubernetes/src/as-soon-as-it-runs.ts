import { setTimeout as delay } from 'node:timers/promises';
import { isLitterboxError } from '@litterbox/core/provider';

const TRY_AGAIN_MS = 50;
/** For longer a node pulls an image, and is not asked again and again. */
const EAGER_MS = 5_000;

/**
 * Starts a program in a container as soon as there is one: the cluster tells of it up to a second late.
 *
 * @param running resolves when the cluster says that the container runs; rejects when it never will
 * @param start asked with whether the container may not run yet
 */
export async function asSoonAsItRuns<Program>(
  running: Promise<unknown>,
  start: (isEarly: boolean) => Promise<Program>,
): Promise<Program> {
  const ready = running.then(() => true);
  ready.catch(() => {}); // whoever waits for it here hears of it
  const begun = performance.now();
  for (let isReady = false; !isReady && performance.now() - begun < EAGER_MS; ) {
    try {
      return await start(true);
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
    }
    isReady = await Promise.race([ready, delay(TRY_AGAIN_MS, false)]);
  }
  await ready;
  return await start(false);
}
