import {
  MASKED_PATHS,
  EngineProvider,
  type EngineFlavour,
  type Layout,
  type OpenMachine,
  seccompProfile,
} from '@litterbox/container-engine';
import { type CallOptions, type Host, type SandboxProvider, type ProviderMachine } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';
import { endExecMonitors } from './end-exec-monitors.ts';
import { findPodmanEngine, findPodmanSocketThere } from './find-podman-engine.ts';

/** The machine, and where Podman is found there. In the machine's directory the provider makes its own, `podman`, mode 0700. */
export interface PodmanOptions extends ProviderMachine {
  /**
   * Absolute path of the engine's socket on the host.
   * @defaultValue what CONTAINER_HOST says, the connection that CONTAINER_CONNECTION names, the usual one of the user or of the machine,
   *   else one of a service that is started for the purpose and ends by itself
   */
  readonly socket?: string;
  /** Logs in on the machine of an engine whose address begins with `ssh://`. @defaultValue such an engine is refused */
  readonly openMachine?: OpenMachine | undefined;
}

const WORDS = {
  kind: 'podman',
  title: 'Podman',
  startHint: 'Start its service (systemctl --user start podman.socket), or name its socket in CONTAINER_HOST.',
  permissionHint: 'Use the socket of your own user: systemctl --user start podman.socket.',
} as const;

/** Sandboxes in containers of Podman, rootless or rootful, on the same machine or another one. Does nothing until it is asked. */
export function podman({
  key = WORDS.kind,
  host,
  facts,
  directory,
  socket,
  openMachine,
}: PodmanOptions): SandboxProvider {
  const flavour: EngineFlavour = {
    ...WORDS,
    provider: key,
    findEngine: async (_host, layout, call) =>
      socket === undefined ? await findPodmanEngine(key, host, layout.root, call) : { type: 'unix', path: socket },
    findSocketThere: async (machine, call) => await findPodmanSocketThere(key, machine, call),
    seccomp: async (_host, layout, call) => await profileFile(host, layout, call),
    // Its answer in Docker's words says the same of every machine with version 2, and part of that is wrong.
    ownInfo: '/v4.0.0/libpod/info',
    // Each answer has it ask the package manager for every program of its own: 0.7 s of processor time on Debian.
    believedMs: 3_600_000,
    ownedBy: () => 'U',
    hasVolumesOfImage: true,
    // Rootless: the user inside is the user outside, and nobody else inside is anybody outside.
    userProcesses: async (_host, { isRootless }, limit, call) => (isRootless ? limit : await hardLimit(host, call)),
    release: async (container) => await endExecMonitors(host, container),
    // It passes over the member that Docker has for it.
    masks: [`mask=${MASKED_PATHS.join(':')}`],
    // As binds in Docker's words: it passes over them in mounts.
    bindOptions: 'nosuid,nodev',
    usersMode: ({ isRootless }) => (isRootless ? 'keep-id' : ''),
  };
  return new EngineProvider({
    host,
    isRoot: facts.uid === 0,
    directory: `${directory}/podman`,
    flavour,
    openMachine,
  });
}

/** Podman takes the filter's path only; the file is its own for each content. */
async function profileFile(host: Host, layout: Layout, options?: CallOptions): Promise<string> {
  const bytes = new TextEncoder().encode(seccompProfile());
  const known = await host.files.read(layout.seccomp, options);
  if (!known || known.length !== bytes.length || known.some((byte, index) => byte !== bytes[index]))
    await host.files.write(layout.seccomp, bytes, { ...options, mode: 0o600 });
  return layout.seccomp;
}

/**
 * Podman sets this limit in any case, to "none" when it is not told, which takes a privilege that it may not have. A rootful one
 * shares the count among all containers of the same user, so that it can only be the machine's own: the hard limit of who starts
 * programs, or the largest process number, which Podman takes for its own limit where it is less.
 */
async function hardLimit(host: Host, options?: CallOptions): Promise<number> {
  const { stdout } = await runScript(host, 'cat /proc/sys/kernel/pid_max /proc/self/limits', options);
  const most = Number.parseInt(stdout, 10);
  const [, hard = ''] = /^Max processes\s+\S+\s+(\d+)/m.exec(stdout) ?? [];
  return hard === '' ? most : Math.min(most, Number(hard));
}
