import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** @throws LitterboxError `UNSUPPORTED` */
export function assertCanCopy(provider: SandboxProvider, { slug }: SandboxRecord): void {
  if (provider.traits.canCopy) return;
  throw new LitterboxError('UNSUPPORTED', `The provider ${provider.name} cannot copy sandboxes.`, {
    operation: 'sandbox.fork',
    provider: provider.name,
    hint: advice`Make a sandbox from its work instead: ${step('sandbox-merge', { sandbox: slug })}, then ${step('sandbox-create')}.`,
  });
}
