import { type Control, INSIDE } from '@litterbox/core/provider';
import type { ExpectedPlace } from './expected-place.ts';
import { controlOf, type Judged } from './control-rule.ts';
import type { Mount } from './mounts-of.ts';

/** The mount that is on top at a point. */
export const mountAt = (mounts: readonly Mount[], point: string): Mount | undefined =>
  mounts.findLast((mount) => mount.point === point);

export function judgeFiles({ expected, facts: { mounts } }: Judged): Control {
  const writable = mounts
    // What lies below another mount at the same place cannot be reached: to take that away takes a capability.
    .filter((mount) => mountAt(mounts, mount.point) === mount)
    .filter(({ root, point, options, type }) => {
      // A file of /proc that is covered by the null device swallows what is written to it.
      const isCovered = point.startsWith('/proc/') && root === '/null';
      // Only the automounter itself can make anything in its file system: what it brings is a mount of its own.
      const isTrigger = type === 'autofs';
      return !options.includes('ro') && !isCovered && !isTrigger && !isExpectedWritable(point, expected);
    })
    .map(({ point }) => point);
  return controlOf(
    'files',
    writable.length === 0,
    writable.length === 0
      ? 'only workspace, home, playground and temporary directories can be written'
      : `can be written: ${writable.join(', ')}`,
  );
}

function isExpectedWritable(point: string, { workdir, hasReadOnlyDevices = false }: ExpectedPlace): boolean {
  const own = [workdir, INSIDE.alias, INSIDE.home, INSIDE.playground, '/tmp', '/var/tmp', '/dev/shm', '/run'];
  return (
    own.includes(point) || (point === '/dev' && !hasReadOnlyDevices) || point.startsWith('/dev/') || point === '/proc'
  );
}

export function judgeKernelFiles({ expected: { id }, facts: { mounts } }: Judged): Control {
  const isOwnGroup = ({ root, point, options }: Mount) =>
    options.includes('ro') && root.endsWith(`/${id}`) && /^\/sys\/fs\/cgroup(\/[a-z_,]+)?$/.test(point);
  const foreign = mounts.filter(
    (mount) => mount.type === 'sysfs' || (mount.type.startsWith('cgroup') && !isOwnGroup(mount)),
  );
  return controlOf(
    'kernel-files',
    mountAt(mounts, '/proc/sys')?.options.includes('ro') === true && foreign.length === 0,
    foreign.length === 0
      ? '/proc/sys is read-only, and so is all that is there of /sys: its own control groups'
      : `there: ${foreign.map(({ point }) => point).join(', ')}`,
  );
}
