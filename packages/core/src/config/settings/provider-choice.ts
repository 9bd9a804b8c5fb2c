import { isLitterboxError } from '../../domain/errors/errors.ts';
import { parseProviderKey, type ProviderKey } from '../../domain/sandbox/provider-key.ts';
import { Refused, refusedValue, setting } from './setting.ts';

/** A key of a provider. Which ones there are depends on the program that reads the file, and whoever chooses one tells. */
export function providerChoice(description: string) {
  const pattern = '^[a-z][a-z0-9-]{0,62}(@[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?)?$';
  return setting({ type: 'string', pattern, description }, (value): ProviderKey | Refused => {
    const wanted = 'KIND or KIND@HOST';
    if (typeof value !== 'string') return refusedValue('CONFIG_TYPE', value, wanted, 'Write "docker", for example.');
    try {
      parseProviderKey(value);
      return value;
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return refusedValue('CONFIG_VALUE', value, wanted, error.details.next ?? error.details.hint ?? '');
    }
  });
}
