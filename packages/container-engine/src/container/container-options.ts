import { baseEnvironment, DEFAULT_PATH, temporaryBytes } from '@litterbox/sandbox-kit';
import { CORE_LIMIT_BYTES } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { MASKED_PATHS, READONLY_PATHS } from '../inside/kernel-files.ts';
import { FIRST_SCRIPT } from '../process/first-script.ts';
import { labelsOf } from '../engine/labels.ts';
import { INSIDE, type Layers, type SandboxLayout } from '../engine/layout.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

export interface ContainerOptionsInput {
  readonly meta: SandboxMeta;
  readonly sandbox: SandboxLayout;
  readonly layers: Layers;
  /** Directory of the kept setup that it stands on. */
  readonly setup?: string;
  readonly facts: EngineFacts;
  /** What the engine takes for the filter of system calls: the profile itself, or a path of it. */
  readonly seccomp: string;
  /** Files are below the engine's own directory: it gives them only to mounts that follow its own. */
  readonly isBelowEngine: boolean;
  /** What masks the kernel's files, where the engine takes that for an option of security. */
  readonly masks?: readonly string[];
  /** Mount options for every directory of the machine, where the engine takes any. */
  readonly bindOptions?: string | undefined;
  /** How the engine maps users, in its own word; empty for its default. */
  readonly usersMode: string;
  /** The mount option that gives a temporary file system to the container's user. */
  readonly owned: string;
  /** The most processes of the container's user, where the engine wants to be told. */
  readonly userProcesses?: number;
  /** What bounds the speed of its disks; empty without a limit. */
  readonly diskSpeed: Pick<Docker.HostConfig, 'BlkioDeviceReadBps' | 'BlkioDeviceWriteBps'>;
  /** Numbers of the processors that it runs on; none leaves it to the engine. */
  readonly processors: readonly number[];
}

/** For people: what finds a container is its label, and the volume that it has. */
export const containerName = ({ slug, id }: Pick<SandboxMeta, 'slug' | 'id'>) => `litterbox-${slug}-${id.slice(0, 8)}`;
/** The volume that is the workspace. */
export const workspaceVolume = (id: string) => `litterbox-${id}`;
/** Where it is mounted. */
export const workspacePlaces = ({ workdir }: Pick<SandboxMeta, 'workdir'>): readonly string[] => [
  ...new Set([workdir, '/src']),
];
/** The volume that is the home directory, of a sandbox that stands on a kept setup. */
export const homeVolume = (id: string) => `litterbox-${id}-home`;

/** A directory or file of the machine, and where the container has it. Neither path has a colon or a comma. */
interface Bound {
  readonly source: string;
  readonly target: string;
  readonly isReadOnly?: boolean;
}

const TMPFS = 'rw,nosuid,nodev';
/**
 * What package managers do as root: give files away, write where they are not the owner, and go on as a user of their own. Each is
 * within the container's own files: no mount, no device, no network and no process of anybody else.
 */
export const INSTALLER_CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'] as const;

/** Every field that decides about isolation is given, whatever the engine's defaults are. A golden file shows the result. */
export function containerOptions(input: ContainerOptionsInput): Docker.ContainerCreateOptions & { name: string } {
  const { meta } = input;
  return {
    name: containerName(meta),
    Image: meta.imageId,
    User: meta.isInstaller ? '0:0' : `${meta.user.uid}:${meta.user.gid}`,
    WorkingDir: '/',
    Hostname: 'sandbox',
    Domainname: '',
    Entrypoint: ['/bin/sh', '-c', FIRST_SCRIPT, meta.id],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    Env: Object.entries(containerEnvironment(meta)).map(([name, value]) => `${name}=${value}`),
    Labels: labelsOf({ id: meta.id, repository: meta.repositoryId }),
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Tty: false,
    OpenStdin: true,
    // The end of who attached first is the end of its shell's input.
    StdinOnce: true,
    NetworkDisabled: true,
    StopSignal: 'SIGKILL',
    StopTimeout: 5,
    HostConfig: {
      ...privilegesOf(input),
      ...filesOf(input),
      ...limitsOf(input),
      ...NOTHING_ELSE,
    },
  };
}

/** Its processes as the kernel sees them. */
function privilegesOf({ meta, seccomp, masks = [], usersMode }: ContainerOptionsInput): Docker.HostConfig {
  return {
    NetworkMode: 'none',
    Privileged: false,
    CapAdd: meta.isInstaller === true ? [...INSTALLER_CAPABILITIES] : [],
    CapDrop: ['ALL'],
    // Its network is its own: no port in there is another's. Docker does that by itself, Podman does not.
    Sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' },
    SecurityOpt: ['no-new-privileges', `seccomp=${seccomp}`, ...masks],
    MaskedPaths: [...MASKED_PATHS],
    ReadonlyPaths: [...READONLY_PATHS],
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: usersMode,
    CgroupnsMode: 'private',
  } as Docker.HostConfig;
}

/** Directories and files that it has, and which of them it can write. */
function filesOf(input: ContainerOptionsInput): Docker.HostConfig {
  const { meta, setup, isBelowEngine, owned, bindOptions } = input;
  const isInstaller = meta.isInstaller === true;
  const sizeBytes = temporaryBytes(meta.limits.memoryBytes);
  const volume = (target: string, source = workspaceVolume(meta.id)): Docker.MountSettings => ({
    Type: 'volume',
    Source: source,
    Target: target,
    ReadOnly: isInstaller,
    VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: '', Options: {} } },
  });
  const propagation = isBelowEngine ? 'rslave' : 'rprivate';
  const bind = ({ source, target, isReadOnly = false }: Bound): Docker.MountSettings => ({
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: isReadOnly,
    BindOptions: { Propagation: propagation },
  });
  const bound = boundOf(input);
  const taken = [...workspacePlaces(meta), INSIDE.home, INSIDE.playground, '/tmp', '/var/tmp', '/run'];
  return {
    ReadonlyRootfs: !isInstaller,
    Tmpfs: {
      // Runtimes give a temporary file system the mode of the image's directory, whatever is asked for: so its user owns it.
      '/tmp': `${TMPFS},exec,size=${sizeBytes},mode=1777,${owned}`,
      '/var/tmp': `${TMPFS},exec,size=${sizeBytes},mode=1777,${owned}`,
      '/run': `${TMPFS},noexec,size=64m,mode=755`,
    },
    Mounts: [
      ...workspacePlaces(meta).map((place) => volume(place)),
      ...(setup === undefined || isInstaller ? [] : [volume(INSIDE.home, homeVolume(meta.id))]),
      ...(bindOptions === undefined ? bound.map(bind) : []),
      // What an image declares as a volume would become one of the engine's, which outlives the sandbox.
      ...meta.imageVolumes
        .filter((target) => !taken.includes(target))
        .map(
          (target): Docker.MountSettings => ({
            Type: 'tmpfs',
            Target: target,
            Source: '',
            ReadOnly: false,
            TmpfsOptions: { SizeBytes: sizeBytes, Mode: 0o1777 },
          }),
        ),
    ],
    Binds:
      bindOptions === undefined
        ? []
        : bound.map(
            ({ source, target, isReadOnly }) =>
              `${source}:${target}:${isReadOnly ? 'ro' : 'rw'},${propagation},${bindOptions}`,
          ),
  };
}

/** Directories and files of the machine that it sees. */
function boundOf({ meta, sandbox, layers, setup }: ContainerOptionsInput): readonly Bound[] {
  const isInstaller = meta.isInstaller === true;
  const ownDirectories: readonly Bound[] = [
    setup === undefined
      ? { source: layers.home, target: INSIDE.home }
      : { source: `${setup}/upper`, target: INSIDE.prepared, isReadOnly: true },
    { source: layers.playground, target: INSIDE.playground },
  ];
  return [
    { source: layers.upper, target: INSIDE.changes, isReadOnly: true },
    ...(isInstaller ? [] : ownDirectories),
    // Users that a package brings are written into the image's own files.
    ...(isInstaller ? ['hosts'] : ['passwd', 'group', 'hosts']).map((name) => ({
      source: `${sandbox.names}/${name}`,
      target: `/etc/${name}`,
      isReadOnly: true,
    })),
  ];
}

/** Ceilings of all its processes together, those alone that the engine enforces. */
function limitsOf({ meta, facts, userProcesses, processors, diskSpeed }: ContainerOptionsInput): Docker.HostConfig {
  const { limits } = meta;
  return {
    ...(facts.enforced.memory && { Memory: limits.memoryBytes, MemorySwap: limits.memoryBytes }),
    ...(facts.enforced.cpus && { NanoCpus: Math.round(limits.cpus * 1e9) }),
    ...(processors.length > 0 && { CpusetCpus: processors.join() }),
    ...(facts.enforced.processes && { PidsLimit: limits.processes }),
    ...diskSpeed,
    ShmSize: temporaryBytes(limits.memoryBytes),
    OomScoreAdj: 500,
    Ulimits: [
      { Name: 'nofile', Soft: limits.openFiles, Hard: limits.openFiles },
      { Name: 'core', Soft: CORE_LIMIT_BYTES, Hard: CORE_LIMIT_BYTES },
      // Timers and queued signals are counted for a user, who may be the person.
      { Name: 'sigpending', Soft: 1024, Hard: 1024 },
      ...(userProcesses === undefined ? [] : [{ Name: 'nproc', Soft: userProcesses, Hard: userProcesses }]),
    ],
  };
}

const NOTHING_ELSE: Docker.HostConfig = {
  Devices: [],
  DeviceRequests: [],
  DeviceCgroupRules: [],
  GroupAdd: [],
  VolumesFrom: [],
  Links: [],
  ExtraHosts: [],
  Dns: [],
  PublishAllPorts: false,
  PortBindings: {},
  RestartPolicy: { Name: 'no' },
  AutoRemove: false,
  Init: false,
  LogConfig: { Type: 'none', Config: {} },
};

/** What every process of the container begins with; the names an image gives orders by are emptied. */
function containerEnvironment(meta: SandboxMeta): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(meta.hostileNames.map((name) => [name, ''])), ...sandboxEnvironment(meta) };
}

const WRITABLE = ['/src', INSIDE.home, INSIDE.playground, '/tmp', '/var/tmp', '/run', '/dev/shm', '/proc'];

/** The image's PATH, behind it what of it programs inside can write: what they put there replaces no program of the image, or of ours. */
function searchPath(path: string, writable: readonly string[]): string {
  if (!/^(\/[^:]*)(:\/[^:]*)*$/.test(path)) return DEFAULT_PATH;
  const isWritable = (directory: string) =>
    /\/(\.{0,2}\/|\.{1,2}$)/.test(directory) || writable.some((place) => `${directory}/`.startsWith(`${place}/`));
  const entries = path.split(':');
  const own = entries.filter((directory) => !isWritable(directory));
  return [...(own.length === 0 ? [DEFAULT_PATH] : own), ...entries.filter(isWritable)].join(':');
}

/** The environment of processes inside when nobody said otherwise. */
export function sandboxEnvironment(meta: SandboxMeta): Readonly<Record<string, string>> {
  const { PATH = '', ...image } = meta.imageEnvironment;
  const path = searchPath(PATH, [meta.workdir, ...WRITABLE, ...meta.imageVolumes]);
  return {
    ...image,
    ...baseEnvironment(meta.slug, path),
    // Root runs no program of an ordinary user's home.
    ...(meta.isInstaller && { PATH: path, HOME: '/root', USER: 'root', LOGNAME: 'root' }),
    ...meta.environment,
  };
}

/** Names in the environment of a process that the engine starts: ours, and what engines add. */
export function inheritedNames(meta: SandboxMeta): readonly string[] {
  return [...new Set([...Object.keys(containerEnvironment(meta)), 'HOSTNAME', 'container'])];
}
