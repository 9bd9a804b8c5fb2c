import { isLitterboxError } from '../../domain/errors/errors.ts';
import { LOCAL_HOST, parseProviderKey, type ProviderKey } from '../../domain/sandbox/provider-key.ts';

/** Whether a provider is said with a machine of its own. What is no key is told by whoever looks for the provider. */
export function namesHost(key: ProviderKey | undefined): boolean {
  if (key === undefined) return false;
  try {
    return parseProviderKey(key).host !== LOCAL_HOST;
  } catch (error) {
    if (!isLitterboxError(error)) throw error;
    return false;
  }
}
