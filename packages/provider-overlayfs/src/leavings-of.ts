import { type SandboxId } from '@litterbox/core/provider';
import { type SessionLeavings } from '@litterbox/linux-sandbox';
import { cgroupEmpty, cgroupThaw } from './machine/cgroup.ts';
import type { Machine } from './machine/machine.ts';

/**
 * How what a session of the sandbox left is ended. Without control groups there is nothing to do: the kernel has ended all of a session before
 * its lock is free.
 */
export function leavingsOf({ cgroup }: Pick<Machine, 'cgroup'>, id: SandboxId): SessionLeavings {
  return cgroup ? { thaw: cgroupThaw(cgroup, id), empty: cgroupEmpty(cgroup, id) } : { thaw: ':', empty: ':' };
}
