import { type CallOptions, isLitterboxError, LitterboxError, advice, step } from '@litterbox/core/provider';
import type { Machines } from '@litterbox/provider-vm';
import type { SavedHost } from './host-registry.ts';
import type { ReachedHost } from './open-saved-host.ts';

/**
 * Reaches a virtual machine of this computer that runs.
 *
 * @param kept what is known of it, nothing before it was first reached
 * @throws LitterboxError `REMOTE_STATE_LOST` and `SSH_HOSTKEY_CHANGED` when it was made anew; all that `Machines.open` throws
 */
export async function openMachine(
  machines: Machines,
  name: string,
  kept: SavedHost | undefined,
  options?: CallOptions,
): Promise<ReachedHost> {
  const { hostKeys = [], machineId: before } = kept ?? {};
  const { host, acceptedKeys } = await machines.open(name, { hostKeys, signal: options?.signal }).catch((error) => {
    throw isLitterboxError(error, 'SSH_HOSTKEY_CHANGED') ? madeAnew('SSH_HOSTKEY_CHANGED', name, error) : error;
  });
  try {
    const { machineId } = host;
    if (before !== undefined && machineId !== before) throw madeAnew('REMOTE_STATE_LOST', name);
    const { homeDirectory } = await host.facts(options);
    const { stateDirectory } = await import('@litterbox/provider-ssh');
    return {
      host,
      directory: stateDirectory(host.environment, homeDirectory),
      kept: {
        name,
        destination: name,
        hostKeys: [...hostKeys, ...acceptedKeys],
        ...(machineId !== undefined && { machineId }),
      },
    };
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}

function madeAnew(code: 'REMOTE_STATE_LOST' | 'SSH_HOSTKEY_CHANGED', name: string, cause?: Error): LitterboxError {
  return new LitterboxError(
    code,
    `${name} is another machine than before: it was recreated, or another program listens in its place.`,
    {
      operation: 'host.open',
      hint: advice`If it was recreated, its sandboxes are gone: ${step('host-remove', { name })}, then ${step('sandbox-recover')} builds each from its last revision.`,
    },
    ...(cause ? [{ cause }] : []),
  );
}
