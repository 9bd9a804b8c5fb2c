import type { Config } from '../../config/config-schema.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import { namesHost } from './names-host.ts';

/**
 * The machines that a configuration names to choose from.
 *
 * @param chosen the provider that a person says over the file: with a machine of its own it decides alone
 * @throws LitterboxError `CONFIG_VALUE` when the file names a machine twice over, or wants sandboxes in advance on one that is chosen later
 */
export function hostsOf(
  { hosts, provider, pool }: Pick<Config, 'hosts' | 'provider' | 'pool'>,
  chosen: ProviderKey | undefined,
): readonly string[] | undefined {
  if (hosts === undefined) return undefined;
  if (namesHost(provider))
    throw refused(`hosts and provider = "${provider}" both name machines.`, 'Write the kind alone, or remove hosts.');
  if (pool > 0 && hosts.length > 1)
    throw refused(
      'hosts and pool cannot be combined: the pool would choose a machine before anybody asks for a sandbox.',
      'Name one host, or remove pool.',
    );
  return namesHost(chosen) ? undefined : hosts;
}

const refused = (message: string, hint: string) =>
  new LitterboxError('CONFIG_VALUE', message, { operation: 'config.policy', hint });
