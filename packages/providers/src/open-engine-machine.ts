import { LOCAL_HOST, type CallOptions, type Host, type ProviderMachine } from '@litterbox/core/provider';
import { HostRegistry, type SavedHost } from './host-registry.ts';

/** Logs in on the machine of an engine. */
type OpenMachine = (
  login: { readonly destination: string; readonly identityFile?: string },
  options?: CallOptions,
) => Promise<Host>;

/**
 * How a provider of this machine reaches engines on others: as `litterbox host` does, with the keys of known_hosts files and of the
 * user's book. A machine whose key nobody knows is refused. From another machine on none is reached.
 */
export function openEngineMachine({ host, directory }: ProviderMachine): OpenMachine | undefined {
  if (host.name !== LOCAL_HOST) return undefined;
  return async (login, call) => {
    const { openSshHost, parseDestination, showDestination } = await import('@litterbox/provider-ssh');
    const spelled = (destination: string) => showDestination(parseDestination(destination));
    const wanted = spelled(login.destination);
    const kept = (await new HostRegistry(directory).list()).filter(
      ({ destination }) => spelled(destination) === wanted,
    );
    const hostKeys: SavedHost['hostKeys'] = kept.flatMap((one) => one.hostKeys);
    const identityFile = login.identityFile ?? kept.find((one) => one.identityFile !== undefined)?.identityFile;
    return await openSshHost(
      { destination: login.destination, hostKeys, ...(identityFile !== undefined && { identityFile }) },
      call,
    );
  };
}
