import type { Config } from '../../config/config-schema.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import { namesHost } from './names-host.ts';

/**
 * The machines that a configuration names to choose from.
 *
 * @param chosen the provider that a person says over the file: with a machine of its own it decides alone
 * @throws LitterboxError `CONFIG_VALUE` when the file names a machine twice over
 */
export function hostsOf(
  { hosts, provider }: Pick<Config, 'hosts' | 'provider'>,
  chosen: ProviderKey | undefined,
): readonly string[] | undefined {
  if (hosts === undefined) return undefined;
  if (namesHost(provider))
    throw new LitterboxError('CONFIG_VALUE', `hosts and provider = "${provider}" both name machines.`, {
      operation: 'config.policy',
      hint: 'Write the kind alone, or remove hosts.',
    });
  return namesHost(chosen) ? undefined : hosts;
}
