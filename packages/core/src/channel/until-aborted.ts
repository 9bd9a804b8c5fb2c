/**
 * Waits for what several wait for, or what nobody may end, as long as this caller waits. The work goes on without him.
 *
 * @throws what the work throws, or the reason of the signal
 */
export async function untilAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return await work;
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([aborted, work]); // both are heard, so that a failure of the work that is late is nobody's
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
