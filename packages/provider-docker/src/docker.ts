import { EngineProvider, type EngineFlavour, seccompProfile } from '@litterbox/container-engine';
import { type Host, type SandboxProvider } from '@litterbox/core/provider';
import { findDockerSocket } from './find-docker-socket.ts';

/** Where Docker is found, and where the provider keeps its files. */
export interface DockerOptions {
  readonly host: Host;
  /** Absolute directory on the host in which the provider makes its own, `docker`, mode 0700. */
  readonly directory: string;
  /**
   * Absolute path of the engine's socket on the host.
   * @defaultValue of a local host: that of DOCKER_HOST, of the context in use, or the first that is there of the usual ones
   */
  readonly socket?: string;
}

const WORDS = {
  provider: 'docker',
  title: 'Docker',
  startHint: 'Start it (sudo systemctl start docker), or name its socket in DOCKER_HOST.',
  permissionHint:
    'Let this user in (sudo usermod -aG docker "$USER", then log in again), or use rootless Docker or Podman. Who may use the socket is root on this machine.',
} as const;

/** Sandboxes in containers of a Docker Engine on the same machine. Does nothing until it is asked. */
export function docker({ host, directory, socket }: DockerOptions): SandboxProvider {
  const flavour: EngineFlavour = {
    ...WORDS,
    findSocket: async (_host, _layout, call) => socket ?? (await findDockerSocket(host, call)),
    seccomp: async () => seccompProfile(),
    // A client that reads no output keeps it from hearing that the container ended; told again, it looks.
    release: async (_container, killAgain) => await killAgain(),
    ownedBy: ({ uid, gid }) => `uid=${uid},gid=${gid}`,
    usersMode: () => '',
  };
  return new EngineProvider({ host, directory: `${directory}/docker`, flavour });
}
