import { type CallOptions, type Host, LitterboxError, type ProviderKey } from '@litterbox/core/provider';
import { findDockerEngine } from './find-docker-engine.ts';

/**
 * Where Docker listens on a machine that is reached over SSH: as its `docker` command has it.
 *
 * @throws LitterboxError `UNSUPPORTED` when that is on a third machine
 */
export async function findSocketThere(provider: ProviderKey, machine: Host, options?: CallOptions): Promise<string> {
  const address = await findDockerEngine(provider, machine, options);
  if (address.type === 'unix') return address.path;
  throw new LitterboxError('UNSUPPORTED', `Docker on ${machine.name} uses an engine on another machine.`, {
    operation: 'engine.find',
    provider,
    hint: `Name the socket there: DOCKER_HOST=${machine.name}/var/run/docker.sock.`,
  });
}
