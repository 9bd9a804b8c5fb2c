import { describe, expect, it } from '@jest/globals';
import { judgeFacts } from './judge-facts.ts';
import type { KernelFacts } from './kernel-facts.ts';
import type { Mount } from './mounts-of.ts';

type More = { readonly hasReadOnlyDevices?: boolean };

/** What is found of `files` when something is mounted so, besides a read-only root. */
const filesWith = (type: string, options: readonly string[], point = '/proc/sys/fs/binfmt_misc', more: More = {}) =>
  foundWith('files', { root: '/', point, device: '0:2', options, type }, more);

/** What is found of a control with one mount more. */
function foundWith(
  control: string,
  mount: Omit<Mount, 'id' | 'parent'>,
  more: More = {},
  above: readonly Mount[] = [],
  cgroup = '',
) {
  const facts: KernelFacts = {
    status: {},
    uidMap: [],
    limits: {},
    cgroup,
    mounts: [
      { id: 1, parent: 0, root: '/', point: '/', device: '0:1', options: ['ro'], type: 'tmpfs' },
      { id: 2, parent: 1, root: '/sys', point: '/proc/sys', device: '0:3', options: ['ro'], type: 'proc' },
      { id: 3, parent: 1, ...mount },
      ...above,
    ],
    separateNamespaces: {},
    descriptors: [],
    doors: [],
    visibleEnvironment: [],
  };
  const expected = {
    provider: 'test',
    mechanism: 'none',
    id: 'an-id',
    workdir: '/src',
    hasOwnUsers: true,
    limits: { memoryBytes: 1, cpus: 1, processes: 1, openFiles: 1 },
    readable: [],
    ...more,
  };
  return judgeFacts(expected, facts).controls.find(({ name }) => name === control);
}

describe('judgeFacts', () => {
  it("does not take an automounter's mount, which systemd puts below /proc/sys, for something that can be written", () => {
    expect(filesWith('autofs', ['rw', 'relatime'])?.status).toBe('enforced');
  });

  it('does not take what lies below a read-only mount at the same place for something that can be written', () => {
    const mount = { root: '/', point: '/sys/fs/cgroup', device: '0:2', options: ['rw'], type: 'tmpfs' };
    const above = (option: string) => [{ ...mount, id: 4, parent: 3, options: [option] }];
    expect(foundWith('files', mount, {}, above('ro'))?.status).toBe('enforced');
    expect(foundWith('files', { ...mount, options: ['ro'] }, {}, above('rw'))?.status).toBe('absent');
    expect(foundWith('files', mount)?.status).toBe('absent');
  });

  it.each([
    ['4:memory:/elsewhere\n3:cpu,cpuacct:/x/an-id', 'memory', 'its first process is in /elsewhere, not in a group'],
    ['0::/user.slice', 'processes', 'its first process is in /user.slice, not in a group whose path ends with an-id'],
    ['', 'cpu', 'its first process is in none, not in a group'],
    ['4:memory:/elsewhere\n3:cpu,cpuacct:/x/an-id', 'cpu', 'at most 1 processors'],
    ['0::/litterbox/an-id', 'memory', 'at most 0 MiB'],
  ])('says of a limit what was found: %j, %s', (cgroup, control, finding) => {
    const mount = { root: '/', point: '/x', device: '0:2', options: ['ro'], type: 'tmpfs' };
    expect(foundWith(control, mount, {}, [], cgroup)?.finding).toContain(finding);
  });

  it('tells of what it brought when that can be written', () => {
    expect(filesWith('binfmt_misc', ['rw', 'relatime'])).toMatchObject({
      status: 'absent',
      finding: 'can be written: /proc/sys/fs/binfmt_misc',
    });
    expect(filesWith('binfmt_misc', ['ro', 'relatime'])?.status).toBe('enforced');
  });

  it.each([
    ['its own, of version 2', '/litterbox/an-id', '/sys/fs/cgroup', 'ro', 'cgroup2', 'enforced'],
    ['its own, of version 1', '/litterbox/an-id', '/sys/fs/cgroup/memory', 'ro', 'cgroup', 'enforced'],
    ['its own, to be written', '/litterbox/an-id', '/sys/fs/cgroup', 'rw', 'cgroup2', 'absent'],
    ['that of another sandbox', '/litterbox/an-id/../other', '/sys/fs/cgroup', 'ro', 'cgroup2', 'absent'],
    ['that of all', '/', '/sys/fs/cgroup', 'ro', 'cgroup2', 'absent'],
    ['its own, at another place', '/litterbox/an-id', '/tmp/cgroup', 'ro', 'cgroup2', 'absent'],
    ['all of /sys', '/an-id', '/sys/fs/cgroup', 'ro', 'sysfs', 'absent'],
  ])('of control groups a sandbox may have %s: %s at %s, %s', (_what, root, point, option, type, status) => {
    const mount = { root, point, device: '0:9', options: [option, 'nosuid'], type };
    expect(foundWith('kernel-files', mount)?.status).toBe(status);
  });

  it('tells of a /dev that can be written where it has to be read-only', () => {
    const devices = (option: string, hasReadOnlyDevices: boolean) =>
      filesWith('tmpfs', [option], '/dev', { hasReadOnlyDevices })?.status;
    expect([devices('rw', true), devices('ro', true), devices('rw', false)]).toEqual([
      'absent',
      'enforced',
      'enforced',
    ]);
  });
});
