import { type Assurance, type Control, type ControlName, type ResourceLimits, INSIDE } from '@litterbox/core/provider';
import { type KernelFacts, PROGRAM } from './kernel-facts.ts';

/** What a sandbox should be like, to be held against what the kernel says. */
export interface ExpectedPlace {
  readonly provider: string;
  /** How it is made: `overlay, bubblewrap 0.8.0`. */
  readonly mechanism: string;
  /** Its control groups end with this. */
  readonly id: string;
  /** Absolute path of the workspace inside. */
  readonly workdir: string;
  /** Whether it has a user namespace, in which no user but its own exists. */
  readonly hasOwnUsers: boolean;
  /** Whether `/dev` has to be read-only, because its directory belongs to the sandbox's own user. @defaultValue false */
  readonly hasReadOnlyDevices?: boolean;
  readonly limits: Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes'>> &
    Pick<ResourceLimits, 'diskBytes'>;
  /** Names that processes may find in the environment of the first one, because they are the sandbox's own. @defaultValue none */
  readonly environment?: readonly string[];
  /** Why there are no limits, as the step that mends it. Absent when there should be some. */
  readonly withoutLimits?: string;
  /** The step that bounds the disk where nobody asked for it. @defaultValue a file system for the state directory */
  readonly withoutDisk?: string;
  readonly readable: Assurance['readable'];
  readonly masked?: Assurance['masked'];
  readonly unreachable?: Assurance['unreachable'];
}

/** Judges what the kernel said, control by control. Nothing here is taken from what was asked for. */
export function judgeFacts(expected: ExpectedPlace, facts: KernelFacts): Assurance {
  const { status, uidMap, limits, mounts, separateNamespaces, descriptors } = facts;
  const control = (name: ControlName, isEnforced: boolean, finding: string, remedy = REPORT): Control =>
    isEnforced ? { name, status: 'enforced', finding } : { name, status: 'absent', finding, remedy };
  const { hasOwnUsers } = expected;
  const joint = Object.entries(separateNamespaces)
    .filter(([name, isSeparate]) => !isSeparate && (name !== 'user' || hasOwnUsers))
    .map(([name]) => name);
  const capabilities = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter(
    (set) => !/^0+$/.test(status[set] ?? 'x'),
  );
  const isOwnGroup = ({ root, point, options }: KernelFacts['mounts'][number]) =>
    options.includes('ro') && root.endsWith(`/${expected.id}`) && /^\/sys\/fs\/cgroup(\/[a-z_,]+)?$/.test(point);
  const foreign = mounts.filter(
    (mount) => mount.type === 'sysfs' || (mount.type.startsWith('cgroup') && !isOwnGroup(mount)),
  );
  const mountAt = (point: string) => mounts.findLast((mount) => mount.point === point);
  const isReadOnly = (point: string) => mountAt(point)?.options.includes('ro') === true;
  const writable = mounts
    // What lies below another mount at the same place cannot be reached: to take that away takes a capability.
    .filter((mount) => mountAt(mount.point) === mount)
    .filter(({ root, point, options, type }) => {
      // A file of /proc that is covered by the null device swallows what is written to it.
      const isCovered = point.startsWith('/proc/') && root === '/null';
      // Only the automounter itself can make anything in its file system: what it brings is a mount of its own.
      const isTrigger = type === 'autofs';
      return !options.includes('ro') && !isCovered && !isTrigger && !isExpectedWritable(point, expected);
    })
    .map(({ point }) => point);
  // 7 is the FIFO by which the host asks for processes; what is started does not get it.
  const strange = descriptors.filter((descriptor) => descriptor > 2 && descriptor !== 7);
  const outside = facts.doors.filter(({ mount }) => !mounts.some(({ id }) => id === mount)).map(({ what }) => what);
  const isProgramKnown = facts.doors.some(({ what }) => what === PROGRAM);
  const visible = facts.visibleEnvironment.filter((name) => !expected.environment?.includes(name));
  const isLimited = expected.withoutLimits === undefined;
  const limited = (controller: string) =>
    isLimited && new RegExp(`^(\\d+:[^:]*\\b${controller}\\b[^:]*|0:):.*/${expected.id}$`, 'm').test(facts.cgroup);
  const within = (controller: string, finding: string) => {
    if (!isLimited) return 'no limit';
    return limited(controller)
      ? finding
      : `its first process is in ${groupOf(controller, facts.cgroup)}, not in a group whose path ends with ${expected.id}`;
  };
  const { disk } = facts;
  const isBounded = disk !== undefined && disk.sizeBytes > 0 && disk.sizeBytes <= (expected.limits.diskBytes ?? 0);
  const unbounded = [expected.workdir, INSIDE.home, INSIDE.playground].filter((point) => {
    const mount = mountAt(point);
    return !isBounded || !(mount?.device === disk.device || mount?.upper?.startsWith(`${disk.point}/`));
  });
  // Real, effective, saved and for files: where there is no map of its own, each as the host counts.
  const users = (status['Uid'] ?? '0').split(/\s+/).map(Number);
  return {
    provider: expected.provider,
    mechanism: expected.mechanism,
    controls: [
      control(
        'namespaces',
        joint.length === 0,
        joint.length === 0
          ? `own ${hasOwnUsers ? 'user, ' : ''}process, network, IPC, host name, control group and mount namespaces`
          : `shares with the host: ${joint.join(', ')}`,
      ),
      hasOwnUsers
        ? control(
            'user',
            uidMap[1] !== undefined && uidMap[1] > 0 && uidMap[2] === 1,
            `user ${uidMap[0]} inside is user ${uidMap[1]} outside, and no other exists`,
          )
        : control(
            'user',
            users.every((user) => user > 0),
            `user ${users[0]}, inside and outside: it has no user namespace`,
          ),
      control(
        'capabilities',
        capabilities.length === 0,
        capabilities.length === 0 ? 'none, and none can be gained' : `not empty: ${capabilities.join(', ')}`,
      ),
      control('no-new-privileges', status['NoNewPrivs'] === '1', `NoNewPrivs ${status['NoNewPrivs']}`),
      control(
        'system-calls',
        status['Seccomp'] === '2',
        status['Seccomp'] === '2' ? `a filter is loaded (${status['Seccomp_filters'] ?? '1'})` : 'no filter',
      ),
      control('network', separateNamespaces['net'] === true, 'no interface but loopback'),
      control(
        'files',
        writable.length === 0,
        writable.length === 0
          ? 'only workspace, home, playground and temporary directories can be written'
          : `can be written: ${writable.join(', ')}`,
      ),
      control(
        'kernel-files',
        isReadOnly('/proc/sys') && foreign.length === 0,
        foreign.length === 0
          ? '/proc/sys is read-only, and so is all that is there of /sys: its own control groups'
          : `there: ${foreign.map(({ point }) => point).join(', ')}`,
      ),
      control(
        'environment',
        visible.length === 0,
        visible.length === 0 ? "nothing of the host's environment can be read" : `can be read: ${visible.join(', ')}`,
      ),
      control(
        'descriptors',
        strange.length === 0 && outside.length === 0 && isProgramKnown,
        strange.length > 0
          ? `inherited: ${strange.join(', ')}`
          : outside.length > 0 || !isProgramKnown
            ? `leads out of the sandbox: ${(isProgramKnown ? [...new Set(outside)] : [PROGRAM]).join(', ')}`
            : 'none inherited, and none leads out',
      ),
      control(
        'memory',
        limited('memory'),
        within('memory', `at most ${mebibytes(expected.limits.memoryBytes)}`),
        expected.withoutLimits,
      ),
      control(
        'cpu',
        limited('cpu'),
        within('cpu', `at most ${expected.limits.cpus} processors`),
        expected.withoutLimits,
      ),
      control(
        'processes',
        limited('pids'),
        within('pids', `at most ${expected.limits.processes}, each with ${limits['Max open files'] ?? '?'} open files`),
        expected.withoutLimits,
      ),
      expected.limits.diskBytes === undefined
        ? {
            name: 'disk',
            status: 'absent',
            finding: 'workspace, home and playground may fill the disk they are on',
            remedy:
              expected.withoutDisk ??
              'Keep the state directory on a file system of its own, with the size you can spare.',
          }
        : control(
            'disk',
            unbounded.length === 0,
            unbounded.length === 0
              ? `workspace, home and playground hold at most ${mebibytes(facts.disk?.sizeBytes ?? 0)} together`
              : `not bounded: ${unbounded.join(', ')}`,
          ),
    ],
    readable: expected.readable,
    ...(expected.masked && expected.masked.length > 0 && { masked: expected.masked }),
    ...(expected.unreachable && expected.unreachable.length > 0 && { unreachable: expected.unreachable }),
  };
}

/** Where a process is among groups of a controller, for people: with version 2 of control groups there is one for all. */
function groupOf(controller: string, cgroup: string): string {
  const lines = cgroup.split('\n');
  const own = lines.find((line) => new RegExp(`^\\d+:[^:]*\\b${controller}\\b`).test(line));
  return (own ?? lines.find((line) => line.startsWith('0::')))?.replace(/^[^:]*:[^:]*:/, '') ?? 'none';
}

const REPORT = 'This should not happen on a supported machine: report it, with all that the check of the machine says.';

function isExpectedWritable(point: string, { workdir, hasReadOnlyDevices = false }: ExpectedPlace): boolean {
  const own = [workdir, INSIDE.alias, INSIDE.home, INSIDE.playground, '/tmp', '/var/tmp', '/dev/shm', '/run'];
  return (
    own.includes(point) || (point === '/dev' && !hasReadOnlyDevices) || point.startsWith('/dev/') || point === '/proc'
  );
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
