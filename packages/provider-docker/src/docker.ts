import { EngineProvider, type EngineFlavour, type OpenMachine, seccompProfile } from '@litterbox/container-engine';
import { type SandboxProvider, type ProviderMachine } from '@litterbox/core/provider';
import { findDockerEngine } from './find-docker-engine.ts';
import { findSocketThere } from './find-socket-there.ts';

/** The machine, and where Docker is found there. In the machine's directory the provider makes its own, `docker`, mode 0700. */
export interface DockerOptions extends ProviderMachine {
  /**
   * Absolute path of the engine's socket on the host.
   * @defaultValue what DOCKER_HOST says, the context in use, or the first socket that is there of the usual ones
   */
  readonly socket?: string;
  /** Logs in on the machine of an engine whose address begins with `ssh://`. @defaultValue such an engine is refused */
  readonly openMachine?: OpenMachine | undefined;
}

const WORDS = {
  kind: 'docker',
  title: 'Docker',
  startHint: 'Start it (sudo systemctl start docker), or name its socket in DOCKER_HOST.',
  permissionHint:
    'Let this user in (sudo usermod -aG docker "$USER", then log in again), or use rootless Docker or Podman. Who may use the socket is root on this machine.',
} as const;

/** Sandboxes in containers of a Docker Engine, on the same machine or another one. Does nothing until it is asked. */
export function docker({
  key = WORDS.kind,
  host,
  facts,
  directory,
  socket,
  openMachine,
}: DockerOptions): SandboxProvider {
  const flavour: EngineFlavour = {
    ...WORDS,
    provider: key,
    findEngine: async (_host, _layout, call) =>
      socket === undefined ? await findDockerEngine(key, host, call) : { type: 'unix', path: socket },
    findSocketThere: async (machine, call) => await findSocketThere(key, machine, call),
    hasIdentity: true,
    seccomp: async () => seccompProfile(),
    // A client that reads no output keeps it from hearing that the container ended; told again, it looks.
    release: async (_container, killAgain) => await killAgain(),
    ownedBy: ({ uid, gid }) => `uid=${uid},gid=${gid}`,
    usersMode: () => '',
  };
  return new EngineProvider({
    host,
    isRoot: facts.uid === 0,
    directory: `${directory}/docker`,
    flavour,
    openMachine,
  });
}
