import type { SandboxId } from '@litterbox/core/provider';
import { type Cgroup, cgroupFreeze, cgroupThaw } from './machine/cgroup.ts';

/** Shell text: freezes all processes of the sandbox, or thaws them; nothing where none run. */
export function freezeScript(cgroup: Cgroup, id: SandboxId, isFrozen: boolean): string {
  return `[ -d '${cgroup.parents.freezer}/${id}' ] || exit 0
${isFrozen ? cgroupFreeze(cgroup, id) : cgroupThaw(cgroup, id)}`;
}
