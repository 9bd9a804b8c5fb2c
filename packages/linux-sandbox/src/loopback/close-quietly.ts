/** Disposes what is of no more use. That it cannot be closed any more is no news. */
export async function closeQuietly(closing: AsyncDisposable): Promise<void> {
  try {
    await closing[Symbol.asyncDispose]();
  } catch {
    // It is gone already.
  }
}
