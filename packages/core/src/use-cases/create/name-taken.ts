import { LitterboxError } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import type { SandboxRecord } from '../../ports/state-store.ts';

/** @param isLost its provider does not have it any more */
export function nameTaken(slug: string, name: string, { state }: SandboxRecord, isLost = false): LitterboxError {
  const from = name === slug ? '' : ` (from ${shown(name)})`;
  const is = isLost ? 'missing' : state;
  return new LitterboxError('SANDBOX_EXISTS', `There is a sandbox ${slug}${from} already; it is ${is}.`, {
    operation: 'sandbox.create',
    hint: `Choose another name, ${isLost ? `rebuild it: litterbox recover ${slug}` : 'work in it'}, or delete it: litterbox delete ${slug}.`,
  });
}
