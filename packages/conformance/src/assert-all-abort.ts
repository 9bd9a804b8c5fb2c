import assert from 'node:assert/strict';
import { type CallOptions } from '@litterbox/core/provider';

/** Fails unless each of these calls, aborted before it begins, rejects with the very reason. One after the other. */
export async function assertAllAbort(
  callsWith: (options: CallOptions) => Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  const reason = new Error('enough');
  const deaf: string[] = [];
  for (const [name, run] of Object.entries(callsWith({ signal: AbortSignal.abort(reason) }))) {
    const outcome = await run().then(
      () => 'resolved',
      (error: unknown) => (error === reason ? undefined : `rejected with ${String(error)}`),
    );
    if (outcome !== undefined) deaf.push(`${name} ${outcome}`);
  }
  assert.deepEqual(deaf, []);
}
