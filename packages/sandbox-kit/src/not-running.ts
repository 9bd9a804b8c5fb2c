import { LitterboxError, advice, step } from '@litterbox/core/provider';

/** Why nothing can be started in a sandbox. */
export type Rest = 'paused' | 'stopped';

/** Refuses a program that is to start in a sandbox at rest. */
export function notRunning(provider: string, rest: Rest): LitterboxError {
  const code = rest === 'paused' ? 'SANDBOX_PAUSED' : 'SANDBOX_STOPPED';
  return new LitterboxError(code, `The sandbox is ${rest}.`, {
    operation: 'runtime.spawn',
    provider,
    hint: advice`Run ${step('sandbox-resume')}.`,
  });
}
