import type { SandboxId } from '@litterbox/core/provider';
import { type DirectoryLayout, type PlanEntry, sandboxFilesOf, stillCopy } from '@litterbox/linux-sandbox';
import { cgroupIsFrozen } from './machine/cgroup.ts';
import { freezeScript } from './freeze-script.ts';
import type { Machine } from './machine/machine.ts';

/** The same as an entry of a plan of the session program (`packages/session-program/src/copies.h`). */
export function stillPlan(layout: DirectoryLayout, { cgroup }: Machine, id: SandboxId): PlanEntry {
  const { directory } = sandboxFilesOf(`${layout.sandboxes}/${id}`);
  return ['still', directory, ...(cgroup ? [`${cgroup.version}`, `${cgroup.parents.freezer}/${id}`] : [])];
}

/** Shell text: copies while the sandbox stands still, as `stillCopy` has it. */
export function stillScript(layout: DirectoryLayout, { cgroup }: Machine, id: SandboxId, copy: string): string {
  const freezer = cgroup && {
    freeze: freezeScript(cgroup, id, true),
    thaw: freezeScript(cgroup, id, false),
    isStill: cgroupIsFrozen(cgroup, id),
  };
  const { directory } = sandboxFilesOf(`${layout.sandboxes}/${id}`);
  return stillCopy({ directory, copy, ...(freezer && { freezer }) });
}
