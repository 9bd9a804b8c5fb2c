import { LitterboxError, type Providers, type SandboxProvider } from '@litterbox/core/provider';

/** These and no others; all of them are there at once. */
export function memoryProviders(all: readonly SandboxProvider[]): Providers {
  const preferred = all.map(({ name }) => name);
  return {
    preferred,
    async get(key, options) {
      options?.signal?.throwIfAborted();
      const found = all.find(({ name }) => name === key);
      if (found) return found;
      throw new LitterboxError('INVALID_ARGUMENT', `There is no provider ${key}.`, {
        operation: 'provider.find',
        hint: `There are: ${preferred.join(', ')}.`,
      });
    },
    async [Symbol.asyncDispose]() {
      for (const provider of all) await provider[Symbol.asyncDispose]();
    },
  };
}
