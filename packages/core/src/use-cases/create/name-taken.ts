import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** @param isLost its provider does not have it any more */
export function nameTaken(slug: string, name: string, { state }: SandboxRecord, isLost = false): LitterboxError {
  const from = name === slug ? '' : ` (from ${shown(name)})`;
  const is = isLost ? 'missing' : state;
  return new LitterboxError('SANDBOX_EXISTS', `There is a sandbox ${slug}${from} already; it is ${is}.`, {
    operation: 'sandbox.create',
    hint: advice`Choose another name${isLost ? advice`. To rebuild it: ${step('sandbox-recover', { sandbox: slug })}` : ', or work in it'}. To delete it: ${step('sandbox-delete', { sandbox: slug })}.`,
  });
}
