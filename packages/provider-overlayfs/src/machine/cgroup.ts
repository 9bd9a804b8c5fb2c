import { quoted, type ResourceLimits } from '@litterbox/core/provider';
import { KEEP_TIME, KEPT_TIME } from '@litterbox/linux-sandbox';

/** Where and how control groups are made. */
export interface Cgroup {
  readonly version: 1 | 2;
  /** Absolute directory per controller under which `<sandbox id>` is made. In version 2 all are the same. */
  readonly parents: Readonly<Record<'memory' | 'pids' | 'cpu' | 'freezer', string>> & {
    /** Which processors programs run on, where the kernel can be told by a group; they have an affinity in any case. */
    readonly cpuset?: string;
    /** Where version 1 counts processor time: the group of `cpu`, or one of its own. */
    readonly cpuacct?: string;
  };
}

const CONTROLLERS = ['memory', 'pids', 'cpu', 'freezer'] as const;
/** Those that programs inside may read: by them they find out how much they may use, and what they were refused. */
const SHOWN = ['memory', 'cpu', 'cpuset', 'pids'] as const;

export interface CgroupSurvey {
  readonly isRoot: boolean;
  readonly uid: number;
  /** The cgroup lines of /proc/self/mounts. */
  readonly mounts: string;
  /** /proc/self/cgroup. */
  readonly own: string;
  /** Groups in which this user can make others that limit everything, nearest to its own first. */
  readonly writable: readonly string[];
}

/** Undefined when this user can make none that limit everything. */
export function cgroupOf({ isRoot, uid, mounts, writable }: CgroupSurvey): Cgroup | undefined {
  const points = mounts.split('\n').map((line) => line.split(' '));
  const versionOne = new Map<string, string>();
  for (const [, point, type, options] of points) {
    if (type !== 'cgroup' || point === undefined) continue;
    for (const controller of [...CONTROLLERS, 'cpuset', 'cpuacct'])
      if (options?.split(',').includes(controller)) versionOne.set(controller, point);
  }
  if (CONTROLLERS.every((controller) => versionOne.has(controller))) {
    const name = isRoot ? 'litterbox' : `litterbox-user-${uid}`;
    const parentsOf = (controllers: readonly string[]) =>
      Object.fromEntries(controllers.map((controller) => [controller, `${versionOne.get(controller)}/${name}`]));
    const parents = parentsOf(CONTROLLERS) as Cgroup['parents'];
    if (!isRoot && !CONTROLLERS.every((controller) => writable.includes(parents[controller]))) return undefined;
    // An ordinary user was handed the groups that limit, and perhaps those that count.
    const more = (['cpuset', 'cpuacct'] as const).filter((controller) => {
      const point = versionOne.get(controller);
      if (point === undefined) return false;
      return (
        isRoot || point === versionOne.get('cpu') || (controller === 'cpuacct' && writable.includes(`${point}/${name}`))
      );
    });
    return { version: 1, parents: { ...parents, ...parentsOf(more) } };
  }
  const unified = points.find(([, point, type]) => type === 'cgroup2' && point === '/sys/fs/cgroup')?.[1];
  if (unified === undefined) return undefined;
  // An ordinary user: the topmost group handed to it, so that moving a process there crosses no group that is not its own.
  const parent = isRoot ? `${unified}/litterbox` : writable.at(-1);
  if (parent === undefined) return undefined;
  const directory = isRoot ? parent : `${parent}/litterbox`;
  const parents = { memory: directory, pids: directory, cpu: directory, freezer: directory, cpuset: directory };
  return { version: 2, parents };
}

/** The groups of a sandbox, by absolute paths. */
export const groupsOf = (cgroup: Cgroup, id: string) => [
  ...new Set(Object.values(cgroup.parents).map((parent) => `${parent}/${id}`)),
];

/** The sandbox's own groups, and where programs that look for their limits find them inside. */
export function shownGroups(
  cgroup: Cgroup,
  id: string,
): readonly { readonly source: string; readonly target: string }[] {
  if (cgroup.version === 2) return [{ source: `${cgroup.parents.memory}/${id}`, target: '/sys/fs/cgroup' }];
  return SHOWN.flatMap((controller) => {
    const parent = cgroup.parents[controller];
    return parent === undefined ? [] : [{ source: `${parent}/${id}`, target: `/sys/fs/cgroup/${controller}` }];
  });
}

/** The limits that groups enforce. */
export type GroupLimits = Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes'>> &
  Pick<ResourceLimits, 'diskBytesPerSecond'>;

/** How long a share of processor time is counted. */
export const PERIOD_US = 100_000;
/** The kernel's smallest quota is 1 ms. */
export const quotaUs = ({ cpus }: Pick<GroupLimits, 'cpus'>) => Math.max(1_000, Math.round(cpus * PERIOD_US));

/** Shell text: makes the groups of a sandbox and sets its limits. Fails when one cannot be set. */
export function cgroupSetUp(cgroup: Cgroup, id: string, limits: GroupLimits, processors: readonly number[]): string {
  const groups = groupsOf(cgroup, id).map(quoted).join(' ');
  const at = (controller: keyof Cgroup['parents'], file: string) =>
    quoted(`${cgroup.parents[controller]}/${id}/${file}`);
  if (cgroup.version === 1) {
    const { cpuset } = cgroup.parents;
    return `mkdir -p ${groups} || fail 'cannot make control groups'
${cpuset === undefined ? '' : cpusetSetUp(cpuset, id, processors)}echo ${limits.memoryBytes} >${at('memory', 'memory.limit_in_bytes')} || fail 'cannot limit memory'
[ ! -e ${at('memory', 'memory.memsw.limit_in_bytes')} ] || echo ${limits.memoryBytes} >${at('memory', 'memory.memsw.limit_in_bytes')} || fail 'cannot limit swap'
echo ${limits.processes} >${at('pids', 'pids.max')} || fail 'cannot limit processes'
echo ${PERIOD_US} >${at('cpu', 'cpu.cfs_period_us')} && echo ${quotaUs(limits)} >${at('cpu', 'cpu.cfs_quota_us')} || fail 'cannot limit processors'
`;
  }
  const parent = cgroup.parents.memory;
  const above = parent.slice(0, parent.lastIndexOf('/'));
  // The session manager hands out only what its own units ask for, and the group above may be new.
  return `mkdir -p ${quoted(parent)}
for g in ${quoted(above)} ${quoted(parent)}; do for c in memory pids cpu${limits.diskBytesPerSecond === undefined ? '' : ' io'}; do
case " $(cat "$g/cgroup.subtree_control") " in *" $c "*) ;; *) echo "+$c" >"$g/cgroup.subtree_control" || fail "cannot hand out $c below $g";; esac
done; done
mkdir -p ${groups} || fail 'cannot make control groups'
echo ${limits.memoryBytes} >${at('memory', 'memory.max')} || fail 'cannot limit memory'
[ ! -e ${at('memory', 'memory.swap.max')} ] || echo 0 >${at('memory', 'memory.swap.max')} || fail 'cannot limit swap'
echo ${limits.processes} >${at('pids', 'pids.max')} || fail 'cannot limit processes'
echo '${quotaUs(limits)} ${PERIOD_US}' >${at('cpu', 'cpu.max')} || fail 'cannot limit processors'
${diskSpeed(`${parent}/${id}/io.max`, limits.diskBytesPerSecond)}${
  processors.length === 0
    ? ''
    : `{ for g in ${quoted(above)} ${quoted(parent)}; do echo +cpuset >"$g/cgroup.subtree_control"; done; echo ${processors.join()} >${quoted(`${parent}/${id}/cpuset.cpus`)}; } 2>/dev/null
`
}`;
}

/**
 * Shell text: limits what the group reads from and writes to each disk of the machine, and sees that the kernel has taken it. A disk is what has
 * hardware behind it: what lies on disks, such as a loop device or an encrypted volume, reads and writes in the name of the same group.
 */
export function diskSpeed(file: string, bytesPerSecond: number | undefined): string {
  if (bytesPerSecond === undefined) return '';
  const wanted = `rbps=${bytesPerSecond} wbps=${bytesPerSecond}`;
  return `disks=0
for d in /sys/block/*; do
[ -e "$d/device" ] && read -r number <"$d/dev" || continue
echo "$number ${wanted}" >${quoted(file)} && grep -q "^$number ${wanted} " ${quoted(file)} || fail "cannot limit the speed of \${d##*/}"
disks=$((disks+1))
done
[ $disks != 0 ] || fail 'cannot limit the speed of the disk: no disk with hardware behind it is seen here'
`;
}

/** In version 1 a group has no processors and no memory of its own, and takes nobody in, before it was given some. */
function cpusetSetUp(parent: string, id: string, processors: readonly number[]): string {
  const above = parent.slice(0, parent.lastIndexOf('/'));
  const list = processors.length === 0 ? `"$(cat ${quoted(above)}/cpuset.cpus)"` : processors.join();
  return `for f in cpuset.cpus cpuset.mems; do cat ${quoted(above)}/$f >${quoted(parent)}/$f; done || fail 'cannot choose processors'
cat ${quoted(`${parent}/cpuset.mems`)} >${quoted(`${parent}/${id}/cpuset.mems`)} && echo ${list} >${quoted(`${parent}/${id}/cpuset.cpus`)} || fail 'cannot choose processors'
`;
}

/** Shell text: moves the shell that runs it into the sandbox's groups. In version 1 `tasks` does not wait for every fork of the machine. */
export function cgroupEnter(cgroup: Cgroup, id: string): string {
  const file = cgroup.version === 1 ? 'tasks' : 'cgroup.procs';
  return groupsOf(cgroup, id)
    .map((group) => `echo 0 >${quoted(`${group}/${file}`)} || fail 'cannot enter ${group}'\n`)
    .join('');
}

/** Shell text: lets the processes go on. */
export function cgroupThaw(cgroup: Cgroup, id: string): string {
  const group = `${cgroup.parents.freezer}/${id}`;
  return cgroup.version === 1
    ? `echo THAWED >${quoted(`${group}/freezer.state`)}`
    : `echo 0 >${quoted(`${group}/cgroup.freeze`)}`;
}

/** Shell text: asks that the processes stand still. */
function cgroupStill(cgroup: Cgroup, id: string): string {
  const group = `${cgroup.parents.freezer}/${id}`;
  return cgroup.version === 1
    ? `echo FROZEN >${quoted(`${group}/freezer.state`)}`
    : `echo 1 >${quoted(`${group}/cgroup.freeze`)}`;
}

/**
 * Shell text: freezes the processes and waits until all of them stand still, for five seconds at most; then they go on and it fails.
 * Version 1 of the kernel's freezer can stand still itself: whoever waits in vfork(2) cannot freeze before its child goes on, which is
 * frozen already, and the group stays FREEZING for ever. (Measured on Linux 6.18: 16 of 1,200 freezes of a shell that starts programs.)
 * Letting go and freezing again gets out of it; container runtimes do the same.
 */
export function cgroupFreeze(cgroup: Cgroup, id: string): string {
  const thaw = cgroupThaw(cgroup, id);
  const freeze = cgroupStill(cgroup, id);
  const isFrozen = cgroupIsFrozen(cgroup, id);
  const again = cgroup.version === 1 ? `[ $((n%25)) -ne 0 ] || { ${thaw}; sleep 0.01; ${freeze}; }` : '';
  return `n=0
${freeze} || exit 1
until ${isFrozen}; do
n=$((n+1)); [ $n -lt 500 ] || { ${thaw}; echo 'the processes do not stand still' >&2; exit 1; }
${again}
sleep 0.01
done`;
}

/** Shell text that succeeds when all processes stand still. */
export function cgroupIsFrozen(cgroup: Cgroup, id: string): string {
  const group = `${cgroup.parents.freezer}/${id}`;
  return cgroup.version === 1
    ? `[ "$(cat ${quoted(`${group}/freezer.state`)} 2>/dev/null)" = FROZEN ]`
    : `grep -qs '^frozen 1' ${quoted(`${group}/cgroup.events`)}`;
}

/** Shell text: the variable `used` becomes the nanoseconds that the kernel counted in the groups. It stays as it is where none are counted. */
function readTime(cgroup: Cgroup, id: string): string {
  if (cgroup.version === 2)
    return `while read -r key count; do [ "$key" != usage_usec ] || used=\${count}000; done <${quoted(`${cgroup.parents.cpu}/${id}/cpu.stat`)}`;
  const { cpuacct } = cgroup.parents;
  return cpuacct === undefined ? ':' : `read -r used <${quoted(`${cpuacct}/${id}/cpuacct.usage`)}`;
}

/**
 * Shell text, in the directory of the sandbox: ends what is left in the groups, frozen or not, and removes them, which is the proof that they
 * are empty. The processor time that was used in them is kept. Succeeds where there are none; says so and fails when processes are left after
 * two seconds, as those are that the kernel holds.
 */
export function cgroupEmpty(cgroup: Cgroup, id: string): string {
  const groups = groupsOf(cgroup, id);
  const isLeft = groups.map((group) => `[ -d ${quoted(group)} ]`).join(' || ');
  const group = `${cgroup.parents.freezer}/${id}`;
  const thaw = cgroupThaw(cgroup, id);
  // Frozen meanwhile: a number that was read is still that of the same process. A process outside of the reader's namespace reads as 0.
  const kill = `${cgroupStill(cgroup, id)}
while read -r p; do [ "$p" = 0 ] || kill -9 "$p"; done <${quoted(`${group}/cgroup.procs`)}`;
  const killAll =
    cgroup.version === 1
      ? kill
      : `if [ -e ${quoted(`${group}/cgroup.kill`)} ]; then echo 1 >${quoted(`${group}/cgroup.kill`)}; else
${kill}
fi`;
  return `n=0 used=
while { ${isLeft}; } && { ${readTime(cgroup, id)}; ! rmdir ${groups.map(quoted).join(' ')}; }; do
[ $n -lt 100 ] || break
n=$((n+1))
${killAll}
${thaw}
sleep 0.02
done 2>/dev/null
if ${isLeft}; then echo 'it cannot be ended: processes are left in its control groups' >&2; false; else
${KEEP_TIME}
fi
`;
}

/**
 * Shell text: prints memory in bytes, processor time in nanoseconds over all sessions and the number of processes, one line each; an empty one
 * for what is not known. A session that ends meanwhile is counted once.
 */
export function cgroupUsage(cgroup: Cgroup, id: string, directory: string): string {
  const number = (controller: 'memory' | 'pids', file: string) =>
    `count=0; read -r count <${quoted(`${cgroup.parents[controller]}/${id}/${file}`)}; echo $count`;
  return `exec 2>/dev/null
cd ${quoted(directory)} || exit 1
${number('memory', cgroup.version === 1 ? 'memory.usage_in_bytes' : 'memory.current')}
until
kept= used= again=
read -r kept <${KEPT_TIME}
{ ${readTime(cgroup, id)}; }
read -r again <${KEPT_TIME}
[ "$kept" = "$again" ]
do :; done
[ -f ${KEPT_TIME} ] || used=
[ -z "$kept$used" ] || used=$((\${kept:-0}+\${used:-0}))
echo $used
${number('pids', 'pids.current')}`;
}
