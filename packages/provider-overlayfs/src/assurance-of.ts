import type { Assurance, Control, ControlName } from '@litterbox/core/provider';
import type { Machine } from './machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import type { SessionFacts } from './session-facts.ts';
import type { ToolDirectory } from './tool-directories.ts';

/** Judges what the kernel said, control by control. Nothing here is taken from what was asked for. */
export function assuranceOf(machine: Machine, meta: SandboxMeta, facts: SessionFacts): Assurance {
  const { status, uidMap, limits, mounts, separateNamespaces, descriptors, visibleEnvironment } = facts;
  const control = (name: ControlName, isEnforced: boolean, finding: string, remedy: string): Control =>
    isEnforced ? { name, status: 'enforced', finding } : { name, status: 'absent', finding, remedy };
  const report = 'This should not happen on a supported machine: run litterbox doctor and report what it says.';
  const joint = Object.entries(separateNamespaces)
    .filter(([, isSeparate]) => !isSeparate)
    .map(([name]) => name);
  const capabilities = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter(
    (set) => !/^0+$/.test(status[set] ?? 'x'),
  );
  const mountAt = (point: string) => mounts.findLast((mount) => mount.point === point);
  const isReadOnly = (point: string) => mountAt(point)?.options.includes('ro') === true;
  const writable = mounts
    .filter(({ point, options }) => !options.includes('ro') && !isExpectedWritable(point, meta))
    .map(({ point }) => point);
  // 7 is the FIFO by which the host asks for processes; what is started does not get it.
  const strange = descriptors.filter((descriptor) => descriptor > 2 && descriptor !== 7);
  const limited = (controller: string) =>
    machine.cgroup !== undefined &&
    new RegExp(`^(\\d+:[^:]*\\b${controller}\\b[^:]*|0:):.*/${meta.id}$`, 'm').test(facts.cgroup);
  const delegation = machine.checks.find(({ name }) => name === 'control-groups')?.remedy ?? report;
  return {
    provider: 'overlayfs',
    mechanism: `${meta.strategy}${machine.isRoot ? '' : ' (unprivileged)'}, bubblewrap ${machine.bwrapVersion}`,
    controls: [
      control(
        'namespaces',
        joint.length === 0,
        joint.length === 0
          ? 'own user, process, network, IPC, host name, control group and mount namespaces'
          : `shares with the host: ${joint.join(', ')}`,
        report,
      ),
      control(
        'user',
        uidMap[1] !== undefined && uidMap[1] > 0 && uidMap[2] === 1,
        `user ${uidMap[0]} inside is user ${uidMap[1]} outside, and no other exists`,
        report,
      ),
      control(
        'capabilities',
        capabilities.length === 0,
        capabilities.length === 0 ? 'none, and none can be gained' : `not empty: ${capabilities.join(', ')}`,
        report,
      ),
      control('no-new-privileges', status['NoNewPrivs'] === '1', `NoNewPrivs ${status['NoNewPrivs']}`, report),
      control(
        'system-calls',
        status['Seccomp'] === '2',
        status['Seccomp'] === '2' ? `a filter is loaded (${status['Seccomp_filters'] ?? '1'})` : 'no filter',
        report,
      ),
      control('network', separateNamespaces['net'] === true, 'no interface but loopback', report),
      control(
        'files',
        writable.length === 0,
        writable.length === 0
          ? 'only workspace, home, playground and temporary directories can be written'
          : `can be written: ${writable.join(', ')}`,
        report,
      ),
      control(
        'kernel-files',
        isReadOnly('/proc/sys') && !mounts.some(({ type }) => type === 'sysfs' || type.startsWith('cgroup')),
        '/proc/sys is read-only, /sys and control groups are not there',
        report,
      ),
      control(
        'environment',
        visibleEnvironment.length === 0,
        visibleEnvironment.length === 0
          ? "nothing of the host's environment can be read"
          : `can be read: ${visibleEnvironment.join(', ')}`,
        report,
      ),
      control(
        'descriptors',
        strange.length === 0,
        strange.length === 0 ? 'none inherited' : `inherited: ${strange.join(', ')}`,
        report,
      ),
      control(
        'memory',
        limited('memory'),
        machine.cgroup ? `at most ${mebibytes(meta.limits.memoryBytes)}` : 'no limit',
        delegation,
      ),
      control(
        'cpu',
        limited('cpu'),
        machine.cgroup ? `at most ${meta.limits.cpus} processors` : 'no limit',
        delegation,
      ),
      control(
        'processes',
        limited('pids'),
        machine.cgroup
          ? `at most ${meta.limits.processes}, each with ${limits['Max open files'] ?? '?'} open files`
          : 'no limit',
        delegation,
      ),
      {
        name: 'disk',
        status: 'absent',
        finding: 'workspace, home and playground may fill the disk they are on',
        remedy: 'Keep the state directory on a file system of its own, with the size you can spare.',
      },
    ],
    readable: readableOf(machine.toolDirectories, meta),
  };
}

function isExpectedWritable(point: string, meta: SandboxMeta): boolean {
  const own = [meta.workdir, '/home/agent', '/playground', '/tmp', '/var/tmp', '/dev/shm', '/run'];
  return own.includes(point) || point === '/dev' || point.startsWith('/dev/') || point === '/proc';
}

function readableOf(tools: readonly ToolDirectory[], meta: SandboxMeta): Assurance['readable'] {
  if (meta.root.type === 'directory') return [{ path: meta.root.path, reason: 'the root file system of your choice' }];
  return [
    { path: '/usr', reason: 'the programs of this machine' },
    {
      path: '/etc',
      reason: 'a copy of what programs need of it: certificates, alternatives, time zone; no account of yours',
    },
    ...tools,
  ];
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
