/** Disposes of all, the last first, and of the rest also when one of them fails. @throws what failed; an `AggregateError` of several */
export async function disposeAll(parts: AsyncDisposable[]): Promise<void> {
  const failures: unknown[] = [];
  for (let part = parts.pop(); part; part = parts.pop()) {
    try {
      await part[Symbol.asyncDispose]();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} parts could not be disposed of.`);
}
