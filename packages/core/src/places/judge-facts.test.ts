import { describe, expect, it } from '@jest/globals';
import { judgeFacts } from './judge-facts.ts';
import type { KernelFacts } from './kernel-facts.ts';

/** What is found of `files` when that is mounted so, besides a read-only root. */
function filesWith(
  type: string,
  options: readonly string[],
  point = '/proc/sys/fs/binfmt_misc',
  more: { readonly hasReadOnlyDevices?: boolean } = {},
) {
  const facts: KernelFacts = {
    status: {},
    uidMap: [],
    limits: {},
    cgroup: '',
    mounts: [
      { id: 1, root: '/', point: '/', device: '0:1', options: ['ro'], type: 'tmpfs' },
      { id: 2, root: '/', point, device: '0:2', options, type },
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
  return judgeFacts(expected, facts).controls.find(({ name }) => name === 'files');
}

describe('judgeFacts', () => {
  it("does not take an automounter's mount, which systemd puts below /proc/sys, for something that can be written", () => {
    expect(filesWith('autofs', ['rw', 'relatime'])?.status).toBe('enforced');
  });

  it('tells of what it brought when that can be written', () => {
    expect(filesWith('binfmt_misc', ['rw', 'relatime'])).toMatchObject({
      status: 'absent',
      finding: 'can be written: /proc/sys/fs/binfmt_misc',
    });
    expect(filesWith('binfmt_misc', ['ro', 'relatime'])?.status).toBe('enforced');
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
