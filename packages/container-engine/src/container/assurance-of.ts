import { type Assurance, type Control, type ControlName } from '@litterbox/core/provider';
import type Docker from 'dockerode';
import { INSTALLER_CAPABILITIES } from './container-options.ts';
import { MASKED_PATHS } from '../inside/kernel-files.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

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

/** What is in force, as the kernel and the engine tell it. */
export function assuranceOf(input: AssuranceInput): Assurance {
  const { provider, title, facts, meta, container, status, uidMap } = input;
  const { HostConfig } = container;
  const report = `This should not happen with a supported ${title}: report it, with all that the check of the machine says.`;
  const control = (name: ControlName, holds: boolean, finding: string, remedy = report): Control =>
    holds ? { name, status: 'enforced', finding } : { name, status: 'absent', finding, remedy };
  const isInstaller = meta.isInstaller === true;
  const allowed = isInstaller ? INSTALLER_CAPABILITY_BITS : 0n;
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter((set) => {
    const bits = status.get(set) ?? '';
    return !/^[0-9a-f]+$/.test(bits) || (BigInt(`0x${bits}`) & ~allowed) !== 0n;
  });
  const inside = meta.user.uid;
  const range = uidMap.find(([first, , count]) => inside >= first && inside < first + count);
  const outside = range ? range[1] + inside - range[0] : inside;
  const hasOwnUsers = range !== undefined && !(range[0] === 0 && range[1] === 0 && range[2] > 2 ** 31);
  const host = HostConfig as typeof HostConfig & { CgroupnsMode?: string };
  const joint = Object.entries({
    process: host.PidMode,
    network: host.NetworkMode,
    IPC: host.IpcMode,
    'host name': host.UTSMode,
  })
    .filter(([, mode]) => mode === 'host' || (mode ?? '').startsWith('container:'))
    .map(([name]) => name);
  const limits = {
    memory: facts.enforced.memory && (HostConfig.Memory ?? 0) > 0,
    cpu: facts.enforced.cpus && ((HostConfig.NanoCpus ?? 0) > 0 || (HostConfig.CpuQuota ?? 0) > 0),
    processes: facts.enforced.processes && (HostConfig.PidsLimit ?? 0) > 0,
  };
  const noLimit = facts.isRootless
    ? 'Use a machine with control groups version 2 and delegation to your user, or the rootful engine.'
    : 'Enable the controller in the kernel.';
  const binds = container.Mounts.filter(({ Type, RW }) => Type === 'bind' && RW).length;
  return {
    provider,
    mechanism: `${title} ${facts.version}${facts.isRootless ? ' (rootless)' : ''}, ${facts.runtime}, workspace by overlay`,
    controls: [
      control(
        'namespaces',
        joint.length === 0,
        joint.length === 0
          ? `own process, network, IPC, host name and mount namespaces${host.CgroupnsMode === 'private' ? ', own control group namespace' : ''}${hasOwnUsers ? ', own user namespace' : ''}`
          : `shares with the host: ${joint.join(', ')}`,
      ),
      control(
        'user',
        isInstaller || (inside !== 0 && outside !== 0 && status.get('Uid')?.split(/\s+/)[0] !== '0'),
        isInstaller
          ? 'root inside, to install'
          : hasOwnUsers
            ? `user ${inside} inside is user ${outside} outside`
            : `user ${inside}, inside and outside: ${title} gives no user namespace`,
      ),
      control(
        'capabilities',
        sets.length === 0 && !HostConfig.Privileged,
        sets.length === 0
          ? isInstaller
            ? 'those over files and users alone'
            : 'none, and none can be gained'
          : `not empty: ${sets.join(', ')}`,
      ),
      control('no-new-privileges', status.get('NoNewPrivs') === '1', `NoNewPrivs ${status.get('NoNewPrivs') ?? '?'}`),
      control(
        'system-calls',
        status.get('Seccomp') === '2',
        status.get('Seccomp') === '2' ? 'a filter is loaded' : 'no filter',
      ),
      control('network', HostConfig.NetworkMode === 'none', 'no interface but loopback'),
      control(
        'files',
        isInstaller || HostConfig.ReadonlyRootfs === true,
        HostConfig.ReadonlyRootfs
          ? `only workspace, home, playground and temporary directories can be written (${binds} of them directories of Litterbox)`
          : 'the root file system can be written',
      ),
      kernelFiles(title, HostConfig, report),
      control('environment', true, "nothing of the host's environment is passed on"),
      control('descriptors', true, `none: processes are started by ${title}`),
      control(
        'memory',
        limits.memory,
        limits.memory ? `at most ${mebibytes(HostConfig.Memory ?? 0)}` : 'no limit',
        noLimit,
      ),
      control('cpu', limits.cpu, limits.cpu ? `at most ${meta.limits.cpus} processors` : 'no limit', noLimit),
      control(
        'processes',
        limits.processes,
        limits.processes
          ? `at most ${HostConfig.PidsLimit}, each with ${status.get('openFiles') ?? meta.limits.openFiles} open files`
          : 'no limit',
        noLimit,
      ),
      diskControl(input, control),
    ],
    readable: [],
  };
}

function diskControl(
  { meta, diskBytes = Number.POSITIVE_INFINITY }: AssuranceInput,
  control: (name: ControlName, holds: boolean, finding: string) => Control,
): Control {
  const limit = meta.limits.diskBytes;
  if (limit === undefined)
    return {
      name: 'disk',
      status: 'absent',
      finding: 'workspace, home and playground may fill the disk they are on',
      remedy: 'Set limits.disk, or keep the state directory on a file system of its own, with the size you can spare.',
    };
  const holds = diskBytes <= limit;
  return control(
    'disk',
    holds,
    holds
      ? `workspace, home and playground hold at most ${mebibytes(diskBytes)} together`
      : 'what the container writes is not on its own disk, or cannot be seen',
  );
}

/** An empty list would unmask, and the engine's own masks leave what tells of the machine; absent means that it does not say. */
function kernelFiles(title: string, config: Docker.HostConfig, remedy: string): Control {
  const { MaskedPaths, ReadonlyPaths } = config as Docker.HostConfig & {
    MaskedPaths?: readonly string[] | null;
    ReadonlyPaths?: readonly string[] | null;
  };
  const name = 'kernel-files';
  if ([MaskedPaths, ReadonlyPaths].some((paths) => paths?.length === 0))
    return { name, status: 'absent', finding: 'the masks of /proc and /sys are empty', remedy };
  const unmasked = MaskedPaths ? MASKED_PATHS.filter((path) => !MaskedPaths.includes(path)) : [];
  return unmasked.length === 0
    ? { name, status: 'enforced', finding: `${title}'s masks are in place` }
    : { name, status: 'weak', finding: `some files of the kernel can be read: ${unmasked.join(', ')}`, remedy };
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
