import { LitterboxError, originText, type SecretSource } from '@litterbox/core/provider';

/** Secrets in memory, by where they are kept, as `originText` says it. */
export function memorySecrets(secrets: Readonly<Record<string, string>> = {}): SecretSource {
  return {
    async read(origin, options) {
      options?.signal?.throwIfAborted();
      const value = secrets[originText(origin)];
      if (value !== undefined) return value;
      throw new LitterboxError('SECRET_NOT_FOUND', `There is no secret in ${originText(origin)}.`, {
        operation: 'secret.read',
      });
    },
  };
}
