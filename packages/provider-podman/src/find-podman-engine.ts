import { type EngineAddress, parseEngineAddress } from '@litterbox/container-engine';
import { type CallOptions, type Host, LitterboxError, type ProviderKey } from '@litterbox/core/provider';
import { findPodmanConnection } from './podman-connections.ts';
import { startPodmanService } from './start-podman-service.ts';

const TLS_HINT = 'Podman is reached over SSH.';

/**
 * The engine that `podman` would use: CONTAINER_HOST with CONTAINER_SSHKEY, the connection that CONTAINER_CONNECTION names, on a machine
 * without Linux that of `podman machine`, the user's own service, the machine's for root. Where there is none and Podman is installed, a
 * service is started.
 *
 * @param directory the provider's own, for the socket of a service that is started
 * @throws LitterboxError `UNAVAILABLE` when Podman is not there; `NOT_FOUND` for a connection that nobody knows; `UNSUPPORTED` for an
 *   address that cannot be honoured
 */
export async function findPodmanEngine(
  provider: ProviderKey,
  host: Host,
  directory: string,
  options?: CallOptions,
): Promise<EngineAddress> {
  const { environment } = host;
  const { CONTAINER_HOST: asked, CONTAINER_CONNECTION: named, CONTAINER_SSHKEY: identityFile } = environment;
  if (asked)
    return parseEngineAddress({ text: asked, source: 'CONTAINER_HOST', tlsHint: TLS_HINT, identityFile, provider });
  if (named) return await connected(provider, host, named, options);
  const { platform } = await host.facts(options);
  if (platform !== 'linux') return await machineOf(provider, host, options);
  const usual = await usualSocket(host, options);
  if (await host.files.stat(usual, options)) return { type: 'unix', path: usual };
  return { type: 'unix', path: await startPodmanService(provider, host, directory, options) };
}

/**
 * Where Podman's service listens on a machine that is reached over SSH. None is started there.
 *
 * @throws LitterboxError `UNAVAILABLE` when there is none
 */
export async function findPodmanSocketThere(
  provider: ProviderKey,
  machine: Host,
  options?: CallOptions,
): Promise<string> {
  const usual = await usualSocket(machine, options);
  if (await machine.files.stat(usual, options)) return usual;
  throw new LitterboxError('UNAVAILABLE', `There is no ${usual} on ${machine.name}.`, {
    operation: 'engine.find',
    provider,
    hint: `Start Podman's service there (systemctl --user enable --now podman.socket), or name its socket: ${machine.name}/PATH.`,
  });
}

async function usualSocket(host: Host, options?: CallOptions): Promise<string> {
  const { uid } = await host.facts(options);
  if (uid === 0) return '/run/podman/podman.sock';
  return `${host.environment['XDG_RUNTIME_DIR'] || `/run/user/${uid}`}/podman/podman.sock`;
}

async function connected(
  provider: ProviderKey,
  host: Host,
  name: string | undefined,
  options?: CallOptions,
): Promise<EngineAddress> {
  const found = await findPodmanConnection(provider, host, name, options);
  if (!found)
    throw new LitterboxError('UNAVAILABLE', 'Podman has no connection to an engine.', {
      operation: 'engine.find',
      provider,
      hint: 'Start its machine: podman machine init, then podman machine start. Or name a socket in CONTAINER_HOST.',
    });
  const source = name === undefined ? "Podman's connection" : `the connection ${name} of Podman`;
  const { uri: text, identity: identityFile } = found;
  return parseEngineAddress({ text, source, tlsHint: TLS_HINT, identityFile, provider });
}

/** `podman machine` hands its socket on to this machine, which asks for no key; else there is the connection that it made. */
async function machineOf(provider: ProviderKey, host: Host, options?: CallOptions): Promise<EngineAddress> {
  const { homeDirectory } = await host.facts(options);
  const temporary = (host.environment['TMPDIR'] || '/tmp').replace(/\/$/, '');
  const sockets = [
    `${temporary}/podman/podman-machine-default-api.sock`,
    `${homeDirectory}/.local/share/containers/podman/machine/podman.sock`,
    `${homeDirectory}/.local/share/containers/podman/machine/qemu/podman.sock`,
  ];
  for (const path of sockets) if (await host.files.stat(path, options)) return { type: 'unix', path };
  return await connected(provider, host, undefined, options);
}
