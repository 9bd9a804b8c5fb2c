import { type Control, type ControlName, visibleName } from '@litterbox/core/provider';
import type Docker from 'dockerode';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';
import { MASKED_PATHS } from '../inside/kernel-files.ts';
import { INSTALLER_CAPABILITIES } from './container-options.ts';

export interface AssuranceInput {
  readonly provider: string;
  readonly title: string;
  readonly facts: EngineFacts;
  readonly meta: SandboxMeta;
  /** The container as the engine says it is. */
  readonly container: Docker.ContainerInspectInfo;
  /** `/proc/1/status` of the container as its kernel tells it, by name. */
  readonly status: ReadonlyMap<string, string>;
  /** The container's own map of users: inside, outside, count. */
  readonly uidMap: readonly (readonly [number, number, number])[];
  /** The largest file system that the container writes to, where it is to be bounded and can be seen. */
  readonly diskBytes?: number;
}

/** Bits of the capabilities that an installer has. @see https://man7.org/linux/man-pages/man7/capabilities.7.html, linux/capability.h */
const CAPABILITY_BITS = { CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, SETGID: 6, SETUID: 7 } as const;
const INSTALLER_CAPABILITY_BITS = INSTALLER_CAPABILITIES.reduce(
  (bits, name) => bits | (1n << BigInt(CAPABILITY_BITS[name])),
  0n,
);

/** Judges one control by what the kernel and the engine say. */
export type Rule = (input: AssuranceInput) => Control;

function controlOf(
  { title }: AssuranceInput,
  name: ControlName,
  holds: boolean,
  finding: string,
  remedy = `This should not happen with a supported ${title}: report it, with all that the check of the machine says.`,
): Control {
  return holds ? { name, status: 'enforced', finding } : { name, status: 'absent', finding, remedy };
}

const isInstaller = ({ meta }: AssuranceInput) => meta.isInstaller === true;

/** The user of processes outside, and whether a user namespace makes it another one than inside. */
function usersOf({ meta, uidMap }: AssuranceInput) {
  const inside = meta.user.uid;
  const range = uidMap.find(([first, , count]) => inside >= first && inside < first + count);
  const outside = range ? range[1] + inside - range[0] : inside;
  const hasOwnUsers = range !== undefined && !(range[0] === 0 && range[1] === 0 && range[2] > 2 ** 31);
  return { inside, outside, hasOwnUsers };
}

function judgeNamespaces(input: AssuranceInput): Control {
  const host = input.container.HostConfig as Docker.HostConfig & { CgroupnsMode?: string };
  const modes = { process: host.PidMode, network: host.NetworkMode, IPC: host.IpcMode, 'host name': host.UTSMode };
  const joint = Object.entries(modes)
    .filter(([, mode]) => mode === 'host' || (mode ?? '').startsWith('container:'))
    .map(([name]) => name);
  const groups = host.CgroupnsMode === 'private' ? ', own control group namespace' : '';
  const users = usersOf(input).hasOwnUsers ? ', own user namespace' : '';
  const own = `own process, network, IPC, host name and mount namespaces${groups}${users}`;
  const isApart = joint.length === 0;
  return controlOf(input, 'namespaces', isApart, isApart ? own : `shares with the host: ${joint.join(', ')}`);
}

function judgeUser(input: AssuranceInput): Control {
  const { inside, outside, hasOwnUsers } = usersOf(input);
  if (isInstaller(input)) return controlOf(input, 'user', true, 'root inside, to install');
  return controlOf(
    input,
    'user',
    inside !== 0 && outside !== 0 && input.status.get('Uid')?.split(/\s+/)[0] !== '0',
    hasOwnUsers
      ? `user ${inside} inside is user ${outside} outside`
      : `user ${inside}, inside and outside: ${input.title} gives no user namespace`,
  );
}

function judgeCapabilities(input: AssuranceInput): Control {
  const allowed = isInstaller(input) ? INSTALLER_CAPABILITY_BITS : 0n;
  const held = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter((set) => {
    const bits = input.status.get(set) ?? '';
    return !/^[0-9a-f]+$/.test(bits) || (BigInt(`0x${bits}`) & ~allowed) !== 0n;
  });
  const holds = held.length === 0 && !input.container.HostConfig.Privileged;
  const allowedOnes = isInstaller(input) ? 'those over files and users alone' : 'none, and none can be gained';
  return controlOf(input, 'capabilities', holds, held.length === 0 ? allowedOnes : `not empty: ${held.join(', ')}`);
}

function judgeFiles(input: AssuranceInput): Control {
  const { HostConfig, Mounts } = input.container;
  const log = HostConfig.LogConfig?.Type;
  if (log !== 'none')
    return controlOf(input, 'files', false, `the engine keeps a log of what passes: ${visibleName(log ?? 'unnamed')}`);
  const binds = Mounts.filter(({ Type, RW }) => Type === 'bind' && RW).length;
  return controlOf(
    input,
    'files',
    isInstaller(input) || HostConfig.ReadonlyRootfs === true,
    HostConfig.ReadonlyRootfs
      ? `only workspace, home, playground and temporary directories can be written (${binds} of them directories of Litterbox)`
      : 'the root file system can be written',
  );
}

/** An empty list would unmask, and the engine's own masks leave what tells of the machine; absent means that it does not say. */
function judgeKernelFiles(input: AssuranceInput): Control {
  const { MaskedPaths, ReadonlyPaths } = input.container.HostConfig as Docker.HostConfig & {
    MaskedPaths?: readonly string[] | null;
    ReadonlyPaths?: readonly string[] | null;
  };
  if ([MaskedPaths, ReadonlyPaths].some((paths) => paths?.length === 0))
    return controlOf(input, 'kernel-files', false, 'the masks of /proc and /sys are empty');
  const unmasked = MaskedPaths ? MASKED_PATHS.filter((path) => !MaskedPaths.includes(path)) : [];
  if (unmasked.length === 0) return controlOf(input, 'kernel-files', true, `${input.title}'s masks are in place`);
  const finding = `some files of the kernel can be read: ${unmasked.join(', ')}`;
  return { ...controlOf(input, 'kernel-files', false, finding), status: 'weak' };
}

type Limited = 'memory' | 'cpus' | 'processes';

/** A limit that the engine says it set, and that the machine can enforce. */
const limitRule =
  (
    name: ControlName,
    limit: Limited,
    isSet: (config: Docker.HostConfig) => boolean,
    findingOf: (input: AssuranceInput) => string,
  ): Rule =>
  (input) => {
    const holds = input.facts.enforced[limit] && isSet(input.container.HostConfig);
    const remedy = input.facts.isRootless
      ? 'Use a machine with control groups version 2 and delegation to your user, or the rootful engine.'
      : 'Enable the controller in the kernel.';
    return controlOf(input, name, holds, holds ? findingOf(input) : 'no limit', remedy);
  };

function judgeDisk(input: AssuranceInput): Control {
  const { meta, diskBytes = Number.POSITIVE_INFINITY } = input;
  const limit = meta.limits.diskBytes;
  if (limit === undefined)
    return controlOf(
      input,
      'disk',
      false,
      'workspace, home and playground may fill the disk they are on',
      'Set limits.disk, or keep the state directory on a file system of its own, with the size you can spare.',
    );
  const holds = diskBytes <= limit;
  return controlOf(
    input,
    'disk',
    holds,
    holds
      ? `workspace, home and playground hold at most ${mebibytes(diskBytes)} together`
      : 'what the container writes is not on its own disk, or cannot be seen',
  );
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** One for each control, in the order in which people read them. */
export const CONTAINER_RULES: readonly Rule[] = [
  judgeNamespaces,
  judgeUser,
  judgeCapabilities,
  (input) => {
    const value = input.status.get('NoNewPrivs');
    return controlOf(input, 'no-new-privileges', value === '1', `NoNewPrivs ${value ?? '?'}`);
  },
  (input) => {
    const isFiltered = input.status.get('Seccomp') === '2';
    return controlOf(input, 'system-calls', isFiltered, isFiltered ? 'a filter is loaded' : 'no filter');
  },
  (input) =>
    controlOf(input, 'network', input.container.HostConfig.NetworkMode === 'none', 'no interface but loopback'),
  judgeFiles,
  judgeKernelFiles,
  (input) => controlOf(input, 'environment', true, "nothing of the host's environment is passed on"),
  (input) => controlOf(input, 'descriptors', true, `none: processes are started by ${input.title}`),
  limitRule(
    'memory',
    'memory',
    ({ Memory = 0 }) => Memory > 0,
    ({ container }) => `at most ${mebibytes(container.HostConfig.Memory ?? 0)}`,
  ),
  limitRule(
    'cpu',
    'cpus',
    ({ NanoCpus = 0, CpuQuota = 0 }) => NanoCpus > 0 || CpuQuota > 0,
    ({ meta }) => `at most ${meta.limits.cpus} processors`,
  ),
  limitRule(
    'processes',
    'processes',
    ({ PidsLimit }) => (PidsLimit ?? 0) > 0,
    ({ container, status, meta }) =>
      `at most ${container.HostConfig.PidsLimit}, each with ${status.get('openFiles') ?? meta.limits.openFiles} open files`,
  ),
  judgeDisk,
];
