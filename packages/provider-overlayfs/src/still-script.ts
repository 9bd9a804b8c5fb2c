import type { SandboxId } from '@litterbox/core/provider';
import { type DirectoryLayout, sandboxFilesOf, stillCopy } from '@litterbox/linux-sandbox';
import { cgroupIsFrozen } from './machine/cgroup.ts';
import { freezeScript } from './freeze-script.ts';
import type { Machine } from './machine/machine.ts';

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
