import { describe, expect, it } from '@jest/globals';
import { cgroupOf, cgroupSetUp, type CgroupSurvey, cgroupUsage, shownGroups } from './cgroup.ts';

const MANAGER = '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service';
const survey: CgroupSurvey = {
  isRoot: false,
  uid: 1000,
  mounts: 'cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0',
  own: '0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope',
  writable: [`${MANAGER}/app.slice`, MANAGER],
};

describe('cgroupOf, version 2', () => {
  it("is below everything for root, and below an ordinary user's own session manager", () => {
    expect(cgroupOf({ ...survey, isRoot: true, uid: 0 })?.parents.memory).toBe('/sys/fs/cgroup/litterbox');
    expect(cgroupOf(survey)).toMatchObject({ version: 2, parents: { freezer: `${MANAGER}/litterbox` } });
  });

  it('is nothing for a login, which was handed no groups', () => {
    expect(
      cgroupOf({ ...survey, own: '0::/user.slice/user-1000.slice/session-1.scope', writable: [] }),
    ).toBeUndefined();
  });

  it('is version 1 where both are mounted, as that has the controllers', () => {
    const both = `cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0`;
    expect(cgroupOf({ ...survey, mounts: both, writable: [] })).toBeUndefined();
    expect(cgroupOf({ ...survey, isRoot: true, uid: 0, mounts: both })).toMatchObject({ version: 1 });
  });

  it('is version 1 with a group that counts processor time where root or who was handed it makes one', () => {
    const mounts = ['memory', 'pids', 'cpu', 'freezer', 'cpuacct']
      .map((name) => `cgroup /sys/fs/cgroup/${name} cgroup rw,${name} 0 0`)
      .join('\n');
    const ofRoot = cgroupOf({ ...survey, isRoot: true, uid: 0, mounts });
    expect(ofRoot?.parents.cpuacct).toBe('/sys/fs/cgroup/cpuacct/litterbox');
    expect(ofRoot && cgroupUsage(ofRoot, 'an-id', '/a')).toContain(
      '/sys/fs/cgroup/cpuacct/litterbox/an-id/cpuacct.usage',
    );
    const writable = ['memory', 'pids', 'cpu', 'freezer'].map((name) => `/sys/fs/cgroup/${name}/litterbox-user-1000`);
    expect(cgroupOf({ ...survey, mounts, writable })?.parents.cpuacct).toBeUndefined();
    const counting = '/sys/fs/cgroup/cpuacct/litterbox-user-1000';
    expect(cgroupOf({ ...survey, mounts, writable: [...writable, counting] })?.parents.cpuacct).toBe(counting);
    const shared = mounts.replace('cpu cgroup rw,cpu ', 'cpu,cpuacct cgroup rw,cpu,cpuacct ').replace(/\n[^\n]*$/, '');
    const withShared = writable.map((path) => path.replace('/cpu/', '/cpu,cpuacct/'));
    expect(cgroupOf({ ...survey, mounts: shared, writable: withShared })?.parents.cpuacct).toBe(withShared[2]);
  });
});

describe('shownGroups', () => {
  it('is the one group of version 2, and of version 1 those in which limits are', () => {
    const two = cgroupOf({ ...survey, isRoot: true, uid: 0 });
    expect(two && shownGroups(two, 'an-id')).toEqual([
      { source: '/sys/fs/cgroup/litterbox/an-id', target: '/sys/fs/cgroup' },
    ]);
    const parents = { memory: '/m', pids: '/p', cpu: '/c', freezer: '/f' };
    expect(shownGroups({ version: 1, parents }, 'an-id')).toEqual([
      { source: '/m/an-id', target: '/sys/fs/cgroup/memory' },
      { source: '/c/an-id', target: '/sys/fs/cgroup/cpu' },
      { source: '/p/an-id', target: '/sys/fs/cgroup/pids' },
    ]);
    expect(shownGroups({ version: 1, parents: { ...parents, cpuset: '/s' } }, 'an-id')).toContainEqual({
      source: '/s/an-id',
      target: '/sys/fs/cgroup/cpuset',
    });
  });
});

describe('cgroupSetUp, version 2', () => {
  const limits = { memoryBytes: 2 ** 30, cpus: 1, processes: 64 };
  const two = cgroupOf({ ...survey, isRoot: true, uid: 0 });
  const scriptOf = (more: object) => (two ? cgroupSetUp(two, 'an-id', { ...limits, ...more }, []) : '');

  it('hands out the controller of disks only where their speed is limited, and reads the limit back', () => {
    expect(scriptOf({})).not.toMatch(/\bio\b|io\.max/);
    const script = scriptOf({ diskBytesPerSecond: 4096 });
    expect(script).toContain('for c in memory pids cpu io; do');
    expect(script).toContain('rbps=4096 wbps=4096');
    expect(script).toMatch(/grep -q .* \|\| fail "cannot limit the speed/);
  });
});
