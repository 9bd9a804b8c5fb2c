/** In order; every one is tried, and all failures are reported together. */
export async function closeAll(closers: readonly (() => PromiseLike<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some parts of Litterbox did not close.');
}
