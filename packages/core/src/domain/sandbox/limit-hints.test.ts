import { describe, expect, it } from '@jest/globals';
import { limitHints } from './limit-hints.ts';

const LIMITS = { memoryBytes: 512 * 2 ** 20 };

describe('limitHints', () => {
  it('says nothing of what went well or failed for another reason', () => {
    expect(limitHints(LIMITS, { exit: { code: 0 }, text: 'No space left on device' })).toEqual([]);
    expect(limitHints(LIMITS, { exit: { code: 1 }, text: 'not found' })).toEqual([]);
  });

  it.each(['cp: error writing: No space left on device', 'Error: ENOSPC: write', 'dd: Disk quota exceeded'])(
    'names the size of temporary directories: %s',
    (text) => {
      expect(limitHints(LIMITS, { exit: { code: 1 }, text })).toEqual([
        '/tmp, /var/tmp and /dev/shm hold at most half of the memory limit each, 256 MiB; put large files into the playground',
      ]);
    },
  );

  it.each([
    { exit: { code: 135, signal: 'SIGBUS' } as const, text: '' },
    { exit: { code: 2 }, text: 'make: *** [all] Bus error (core dumped)' },
  ])('tells what a bus error means: $text', (outcome) => {
    expect(limitHints(LIMITS, outcome)).toEqual([
      expect.stringMatching(/^a bus error mostly means that shared memory is full: .*256 MiB/),
    ]);
  });

  it.each([
    "OSError: [Errno 18] Invalid cross-device link: 'src' -> 'lib'",
    "Error: EXDEV: cross-device link not permitted, rename 'src' -> 'lib'",
    "fatal: renaming 'src' failed: Invalid cross-device link",
  ])('FC-10: tells what moves a directory that the system call does not: %s', (text) => {
    expect(limitHints({}, { exit: { code: 1 }, text })).toEqual([expect.stringMatching(/ mv copies instead .*"copy"/)]);
    expect(limitHints({}, { exit: { code: 0 }, text })).toEqual([]);
  });

  it('names the limit of open files', () => {
    expect(limitHints({ openFiles: 4096 }, { exit: { code: 1 }, text: 'Error: EMFILE: too many open files' })).toEqual([
      expect.stringMatching(/^too many open files: .*\(limits\.open-files: 4096\)/),
    ]);
  });

  it('names the limit of disk where there is one', () => {
    const [hint] = limitHints({ ...LIMITS, diskBytes: 2 ** 30 }, { exit: { code: 1 }, text: 'ENOSPC' });
    expect(hint).toMatch(/with workspace and home 1024 MiB \(limits\.disk\)$/);
  });

  it('tells what could not be started, however the command ended', () => {
    for (const code of [0, 2])
      expect(limitHints({ processes: 512 }, { exit: { code }, text: '', refusedProcesses: 1 })).toEqual([
        expect.stringMatching(
          /^a process could not start: .* limit of 512 processes and threads \(limits\.processes\)\./,
        ),
      ]);
  });

  it('tells what the kernel killed, however the command ended', () => {
    for (const code of [0, 2])
      expect(limitHints(LIMITS, { exit: { code }, text: '', killedForMemory: 2 })).toEqual([
        expect.stringMatching(/^out of memory: the kernel killed 2 processes, .* 512 MiB \(limits\.memory\)\./),
      ]);
  });
});
