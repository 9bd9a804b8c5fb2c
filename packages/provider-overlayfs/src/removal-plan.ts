import type { SandboxId } from '@litterbox/core/provider';
import type { Removal, PlanEntry } from '@litterbox/linux-sandbox';
import type { Machine } from './machine/machine.ts';
import { groupWords } from './session/cgroup-steps.ts';

/** The control groups that the session program ends before it goes on. */
export function groupsPlan({ cgroup }: Pick<Machine, 'cgroup'>, id: SandboxId): PlanEntry {
  return ['groups', ...(cgroup ? [`${cgroup.version}`, ...groupWords(cgroup, id)] : [])];
}

/** A removal as a plan of the session program (`packages/session-program/src/remove.h`). */
export function removalPlan(machine: Pick<Machine, 'cgroup'>, id: SandboxId, removal: Removal): readonly PlanEntry[] {
  const { directory, gone, marks, trees, files, bases, swept } = removal;
  return [
    ['directory', directory, gone],
    groupsPlan(machine, id),
    ['marks', ...marks],
    ['trees', ...trees],
    ['files', ...files],
    ['by-shell', ...[gone, ...trees].map((path) => removal.removeTree(path))],
    ['sweep', removal.sweep, bases.directory, `${bases.kept}`, bases.layerPrefix, ...swept],
    ['go'],
  ];
}
