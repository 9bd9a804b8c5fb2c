import { LitterboxError, shown, advice, step } from '@litterbox/core/provider';
import { openSshHost } from '@litterbox/provider-ssh';
import type { OpenedMachine, OpenMachineOptions } from './way.ts';

/** No configuration of one machine is longer. */
const MAX_CONFIG_CHARACTERS = 64 * 1024;
/** A machine of this computer is forwarded to its loopback. */
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Logs in by the configuration for ssh that a program printed for one machine. Its `StrictHostKeyChecking no` has no part in it: the first key that the
 * machine shows is believed, because a program of this user has just said that the machine runs behind that port of loopback; from then on the
 * same key has to come.
 *
 * @throws LitterboxError `PROVIDER_PROTOCOL_ERROR` for a text that leads to no port of loopback; as `openSshHost`
 */
export async function openByConfig(
  program: string,
  config: string,
  { hostKeys, signal }: OpenMachineOptions,
): Promise<OpenedMachine> {
  const destination = /^Host +([A-Za-z0-9._-]{1,128})\r?$/m.exec(config)?.[1];
  if (destination === undefined || config.length > MAX_CONFIG_CHARACTERS)
    throw unreadable(program, `it prints ${shown(config)}`);
  const host = await openSshHost(
    {
      destination,
      hostKeys,
      ...(hostKeys.length === 0 && { askHostKey: async () => true }),
      // Its own key file alone: the agent is not asked to sign for it.
      client: { configText: config, environment: {} },
      checkEndpoint({ host: address, jumps }) {
        if (!LOOPBACK.has(address) || jumps.length > 0)
          throw unreadable(program, `it leads to ${shown(address)}, and not to this computer`);
      },
    },
    { ...(signal && { signal }) },
  );
  return { host, acceptedKeys: host.acceptedKeys };
}

function unreadable(program: string, why: string): LitterboxError {
  return new LitterboxError(
    'PROVIDER_PROTOCOL_ERROR',
    `Litterbox cannot use the connection that ${program} reports: ${why}.`,
    {
      operation: 'host.open',
      hint: advice`Update it, or add the machine by its address: ${step('host-add', { address: 'USER@127.0.0.1:PORT' })}.`,
    },
  );
}
