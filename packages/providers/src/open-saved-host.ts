import { type CallOptions, LitterboxError, type OpenedHost, advice, step } from '@litterbox/core/provider';
import type { SavedHost } from './host-registry.ts';

/** What a person decides and is told while a machine is reached. */
export interface ReachOptions extends CallOptions {
  /** Is asked before a key is believed that nobody knows. @defaultValue it is refused */
  readonly askHostKey?: (machine: string, key: SavedHost['hostKeys'][number]) => Promise<boolean>;
  readonly onNotice?: (notice: string) => void;
}

/** A machine that answers, and what is to be kept of it. */
export interface ReachedHost extends OpenedHost {
  readonly kept: SavedHost;
}

/**
 * Reaches a machine of the user's over SSH.
 *
 * @throws LitterboxError `REMOTE_STATE_LOST` when another machine answers under its name than before; all that `openSshHost` throws
 */
export async function openSavedHost(kept: SavedHost, options: ReachOptions = {}): Promise<ReachedHost> {
  const { openSshHost, stateDirectory } = await import('@litterbox/provider-ssh');
  const { signal, askHostKey, onNotice } = options;
  const host = await openSshHost(
    {
      destination: kept.destination,
      hostKeys: kept.hostKeys,
      ...(kept.identityFile !== undefined && { identityFile: kept.identityFile }),
      ...(askHostKey && { askHostKey }),
      ...(onNotice && { onNotice }),
    },
    { ...(signal && { signal }) },
  );
  try {
    const { machineId } = host;
    if (kept.machineId !== undefined && machineId !== kept.machineId) throw anotherMachine(kept, machineId);
    const { homeDirectory } = await host.facts();
    return {
      host,
      directory: stateDirectory(host.environment, homeDirectory),
      kept: {
        ...kept,
        hostKeys: [...kept.hostKeys, ...host.acceptedKeys],
        ...(machineId !== undefined && { machineId }),
      },
    };
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}

function anotherMachine({ name, destination, machineId: before }: SavedHost, machineId: string | undefined) {
  return new LitterboxError(
    'REMOTE_STATE_LOST',
    `${name} (${destination}) is another machine than the one that was added.`,
    {
      operation: 'host.open',
      hint: advice`If it was reinstalled, its sandboxes are gone: ${step('host-remove', { name })}, then add it again; ${step('sandbox-recover')} builds each from its last revision.`,
      facts: { machineId, machineIdBefore: before },
    },
  );
}
