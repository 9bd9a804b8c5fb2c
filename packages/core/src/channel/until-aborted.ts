/** Waits for what somebody else began, as long as this caller waits. Throws the reason of the signal. */
export async function untilAborted<Result>(
  work: Promise<Result> | undefined,
  signal?: AbortSignal,
): Promise<Result | undefined> {
  if (!signal) return await work;
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
