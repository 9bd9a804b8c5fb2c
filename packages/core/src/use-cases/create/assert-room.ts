import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** Enough for agents of one repository; a runaway loop of creates ends here (security.md A98). */
const MAX_SANDBOXES = 512;

/** @throws LitterboxError `SANDBOX_LIMIT`. */
export function assertRoom(sandboxes: readonly SandboxRecord[]): void {
  if (sandboxes.length < MAX_SANDBOXES) return;
  throw new LitterboxError('SANDBOX_LIMIT', `This repository has ${MAX_SANDBOXES} sandboxes already.`, {
    operation: 'sandbox.create',
    hint: advice`Delete some: ${step('sandbox-list')}, then ${step('sandbox-delete')}.`,
  });
}
