import { describe, expect, it } from '@jest/globals';
import { systemRuleHint } from './system-rule-hint.ts';

describe('FC-46: a rule that programs run into is named with what there is instead', () => {
  it.each([
    ['bash: line 1: sudo: command not found', /^no program is root here, and the system is read-only: install into/],
    ['sudo: The "no new privileges" flag is set, which prevents sudo from running as root.', /^no program is root/],
    [
      'W: Not using locking for read only lock file /var/lib/dpkg/lock\nE: Unable to locate package x',
      /^no program is/,
    ],
    ['E: List directory /var/lib/apt/lists/partial is missing. - Acquire (2: No such file)', /^no program is root/],
    ['dpkg: error: requested operation requires superuser privilege', /^no program is root/],
    ['su: Critical error - immediate abort', /^no program is root/],
    ["touch: cannot touch '/usr/x': Read-only file system", /^the system is read-only; workspace, home/],
    ["npm error Error: EACCES: permission denied, mkdir '/usr/lib/node_modules/x'", /^the system is read-only/],
    ['unshare: unshare failed: Operation not permitted', /^programs here cannot mount/],
    ['mount: /tmp: must be superuser to use mount.', /^programs here cannot mount/],
    ['[1:2:ERROR] No usable sandbox! Update your kernel', /--no-sandbox$/],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', /^sockets of the machine/],
    ['System has not been booted with systemd as init system (PID 1).', /^there is no service manager/],
  ])('%s', (text, hint) => {
    expect(systemRuleHint(text, 'agent')).toMatch(hint);
  });

  it('says nothing of what fails for another reason', () => {
    for (const text of ['', 'npm: command not found', 'cat: x: Permission denied', 'AssertionError: sudo'])
      expect(systemRuleHint(text, 'person')).toBeUndefined();
  });
});
