import { type Control, INSIDE } from '@litterbox/core/provider';
import type { ExpectedPlace } from './expected-place.ts';
import { controlOf, type Judged, type Rule } from './control-rule.ts';
import { mountAt } from './judge-mounts.ts';
import type { KernelFacts } from './kernel-facts.ts';

type Limited = 'memory' | 'cpu' | 'processes';
const CONTROLLERS: Readonly<Record<Limited, string>> = { memory: 'memory', cpu: 'cpu', processes: 'pids' };

const ruleOf =
  (name: Limited, findingOf: (limits: ExpectedPlace['limits'], facts: KernelFacts) => string): Rule =>
  ({ expected: { id, limits, withoutLimits }, facts }) => {
    if (withoutLimits !== undefined) return controlOf(name, false, 'no limit', withoutLimits);
    const controller = CONTROLLERS[name];
    const own = new RegExp(`^(\\d+:[^:]*\\b${controller}\\b[^:]*|0:):.*/${id}$`, 'm');
    if (own.test(facts.cgroup)) return controlOf(name, true, findingOf(limits, facts));
    const group = groupOf(controller, facts.cgroup);
    return controlOf(name, false, `its first process is in ${group}, not in a group whose path ends with ${id}`);
  };

export const judgeLimits: readonly Rule[] = [
  ruleOf('memory', ({ memoryBytes }) => `at most ${mebibytes(memoryBytes)}`),
  ruleOf('cpu', ({ cpus }) => `at most ${cpus} processors`),
  ruleOf(
    'processes',
    ({ processes }, { limits }) => `at most ${processes}, each with ${limits['Max open files'] ?? '?'} open files`,
  ),
];

/** Where a process is among groups of a controller, for people: with version 2 of control groups there is one for all. */
function groupOf(controller: string, cgroup: string): string {
  const lines = cgroup.split('\n');
  const own = lines.find((line) => new RegExp(`^\\d+:[^:]*\\b${controller}\\b`).test(line));
  return (own ?? lines.find((line) => line.startsWith('0::')))?.replace(/^[^:]*:[^:]*:/, '') ?? 'none';
}

export function judgeDisk({ expected, facts: { disk, mounts } }: Judged): Control {
  const { limits, workdir, withoutDisk } = expected;
  if (limits.diskBytes === undefined)
    return controlOf(
      'disk',
      false,
      'workspace, home and playground may fill the disk they are on',
      withoutDisk ?? 'Keep the state directory on a file system of its own, with the size you can spare.',
    );
  const isBounded = disk !== undefined && disk.sizeBytes > 0 && disk.sizeBytes <= limits.diskBytes;
  const unbounded = [workdir, INSIDE.home, INSIDE.playground].filter((point) => {
    const mount = mountAt(mounts, point);
    return !isBounded || !(mount?.device === disk.device || mount?.upper?.startsWith(`${disk.point}/`));
  });
  return controlOf(
    'disk',
    unbounded.length === 0,
    unbounded.length === 0
      ? `workspace, home and playground hold at most ${mebibytes(disk?.sizeBytes ?? 0)} together`
      : `not bounded: ${unbounded.join(', ')}`,
  );
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
