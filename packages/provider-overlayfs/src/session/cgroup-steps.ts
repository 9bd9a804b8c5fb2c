import { type Cgroup, diskSpeed, type GroupLimits, groupsOf, PERIOD_US, quotaUs } from '../machine/cgroup.ts';
import { shellStep } from '../plan/shell-step.ts';
import { type PlanEntry } from '@litterbox/linux-sandbox';

/** As the session program is told of them: the group that freezes, and all groups. */
export function groupWords(cgroup: Cgroup, id: string): readonly [freezer: string, ...groups: string[]] {
  return [`${cgroup.parents.freezer}/${id}`, ...groupsOf(cgroup, id)];
}

/** Steps of the session program that make the groups of a sandbox and set its limits. */
export function cgroupSteps(
  cgroup: Cgroup,
  id: string,
  limits: GroupLimits,
  processors: readonly number[],
): readonly PlanEntry[] {
  const groups = groupsOf(cgroup, id);
  const at = (controller: keyof Cgroup['parents'], file: string) => `${cgroup.parents[controller]}/${id}/${file}`;
  if (cgroup.version === 1) {
    const { cpuset } = cgroup.parents;
    return [
      ['make-groups', ...groups],
      ...(cpuset === undefined ? [] : cpusetSteps(cpuset, id, processors)),
      ['set', at('memory', 'memory.limit_in_bytes'), `${limits.memoryBytes}\n`, 'memory'],
      ['set-if-there', at('memory', 'memory.memsw.limit_in_bytes'), `${limits.memoryBytes}\n`, 'swap'],
      ['set', at('pids', 'pids.max'), `${limits.processes}\n`, 'processes'],
      ['set', at('cpu', 'cpu.cfs_period_us'), `${PERIOD_US}\n`, 'processors'],
      ['set', at('cpu', 'cpu.cfs_quota_us'), `${quotaUs(limits)}\n`, 'processors'],
    ];
  }
  const parent = cgroup.parents.memory;
  const above = parent.slice(0, parent.lastIndexOf('/'));
  const controllers = ['memory', 'pids', 'cpu', ...(limits.diskBytesPerSecond === undefined ? [] : ['io'])];
  const speed = diskSpeed(`${parent}/${id}/io.max`, limits.diskBytesPerSecond);
  // The session manager hands out only what its own units ask for, and the group above may be new.
  return [
    ['make-groups', parent],
    ['hand-out', above, ...controllers],
    ['hand-out', parent, ...controllers],
    ['make-groups', ...groups],
    ['set', at('memory', 'memory.max'), `${limits.memoryBytes}\n`, 'memory'],
    ['set-if-there', at('memory', 'memory.swap.max'), '0\n', 'swap'],
    ['set', at('pids', 'pids.max'), `${limits.processes}\n`, 'processes'],
    ['set', at('cpu', 'cpu.max'), `${quotaUs(limits)} ${PERIOD_US}\n`, 'processors'],
    ...(speed === '' ? [] : [shellStep(speed)]),
    ...(processors.length === 0
      ? []
      : ([
          ...[above, parent].map((group) => ['try-set', `${group}/cgroup.subtree_control`, '+cpuset\n'] as const),
          ['try-set', `${parent}/${id}/cpuset.cpus`, `${processors.join()}\n`],
        ] as const)),
  ];
}

/** In version 1 a group has no processors and no memory of its own, and takes nobody in, before it was given some. */
function cpusetSteps(parent: string, id: string, processors: readonly number[]) {
  const above = parent.slice(0, parent.lastIndexOf('/'));
  const copy = (file: string, from: string, to: string) =>
    ['copy', `${from}/${file}`, `${to}/${file}`, 'processors'] as const;
  return [
    copy('cpuset.cpus', above, parent),
    copy('cpuset.mems', above, parent),
    copy('cpuset.mems', parent, `${parent}/${id}`),
    processors.length === 0
      ? copy('cpuset.cpus', above, `${parent}/${id}`)
      : (['set', `${parent}/${id}/cpuset.cpus`, `${processors.join()}\n`, 'processors'] as const),
  ] as const;
}
