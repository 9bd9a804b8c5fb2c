import { LitterboxError, advice, step } from '@litterbox/core/provider';

/** `create`: the id is taken. */
export function alreadyThere(provider: string, id: string): LitterboxError {
  return new LitterboxError('ALREADY_EXISTS', `A sandbox with the id ${id} is already there.`, {
    operation: 'provider.create',
    provider,
    hint: 'Remove it first, or take another id.',
  });
}

/** `create`: something is asked for that the provider has not. */
export function cannotHonour(provider: string, what: string, hint: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', `The provider ${provider} does not support ${what}.`, {
    operation: 'provider.create',
    provider,
    hint,
  });
}

/** `open`: nothing of the sandbox is on this machine. */
export function notHere(provider: string, id: string): LitterboxError {
  return new LitterboxError('NOT_FOUND', `This machine holds no sandbox ${id}.`, {
    operation: 'provider.open',
    provider,
    hint: advice`Run ${step('sandbox-recover')}: the recorded revisions are kept elsewhere.`,
  });
}
