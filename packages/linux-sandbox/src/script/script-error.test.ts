import { expect, it } from '@jest/globals';
import { scriptError } from './script-error.ts';

const SET = 'litterbox-0b6c3d4e-0000-4000-8000-000000000000';

it.each<readonly [said: string, code: string, hint: string]>([
  ['tar: a: Wrote only 512 of 10240 bytes', 'DISK_FULL', 'raise the quota'],
  ['cp: error writing: Disk quota exceeded', 'DISK_FULL', 'Free some space'],
  ['zfs clone: out of space', 'DISK_FULL', 'raise the quota'],
  ['the ZFS pool tank cannot be written to (SUSPENDED)', 'UNAVAILABLE', 'zpool status, zpool clear'],
  [`zfs destroy: ${SET}: dataset is busy`, 'BUSY', `grep ${SET} /proc/[0-9]*/mountinfo`],
  [`zfs destroy: ${SET} has datasets or holds of somebody else`, 'CONFLICT', `grep ${SET}`],
  ['cp: cannot stat: No such file or directory', 'UNAVAILABLE', 'probe()'],
  ['', 'UNAVAILABLE', 'probe()'],
])('what a script says decides code and next step: %j', (said, code, hint) => {
  const lines = `one line before\n${said}\n`;
  expect(scriptError('provider.remove', 1, lines)).toMatchObject({
    code,
    details: { operation: 'provider.remove', hint: expect.stringContaining(hint) },
  });
});

it('a name in a message is taken into no command unless it is one of ours', () => {
  const said = 'zfs destroy: litterbox-$(reboot): dataset is busy';
  expect(scriptError('provider.remove', 1, said)).toMatchObject({
    code: 'UNAVAILABLE',
    details: { hint: expect.not.stringContaining('reboot') },
  });
});
