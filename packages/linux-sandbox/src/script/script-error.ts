import { LitterboxError, type LitterboxErrorCode, shown, advice, step } from '@litterbox/core/provider';

/** A failure that is told apart by what a tool says of it. */
interface KnownFailure {
  readonly said: RegExp;
  readonly code: LitterboxErrorCode;
  /** @param name what `said` found in brackets */
  hint(name: string): string;
}

/**
 * The C library's own words for errno, which are the same in every tool and, in this locale, every system; those of ZFS and of our scripts for it;
 * and those of GNU tar for a write that was cut short, which a full disk does first.
 */
const KNOWN: readonly KnownFailure[] = [
  {
    said: /No space left on device|Disk quota exceeded|out of space|Wrote only \d+ of \d+ bytes/,
    code: 'DISK_FULL',
    hint: () => 'Free some space where Litterbox keeps its state, or raise the quota there; then try again.',
  },
  {
    said: /the ZFS pool .* cannot be written to/,
    code: 'UNAVAILABLE',
    hint: () => 'Repair the pool and clear its errors (zpool status, zpool clear), then try again.',
  },
  {
    said: /zfs destroy: (litterbox-[0-9a-f-]+) has datasets or holds of somebody else/,
    code: 'CONFLICT',
    hint: (name) =>
      `See them by: zfs list -t all -o name,userrefs | grep ${name}. Destroy or release them, then try again; until then all of it is kept.`,
  },
  {
    said: /zfs destroy: (litterbox-[0-9a-f-]+): .*dataset is busy/,
    code: 'BUSY',
    hint: (name) =>
      `See who has it mounted by: grep ${name} /proc/[0-9]*/mountinfo. End that, then try again; until then all of it is kept.`,
  },
];

/** What went wrong with a script of ours, from its exit code and what it printed. */
export function scriptError(operation: string, code: number, stderr: string): LitterboxError {
  const said = stderr.trim().split('\n').slice(-3).join('; ');
  const text = `${operation} failed with exit code ${code}: ${said === '' ? 'no message' : shown(said)}.`;
  for (const known of KNOWN) {
    const [match, name = ''] = known.said.exec(said) ?? [];
    if (match !== undefined) return new LitterboxError(known.code, text, { operation, hint: known.hint(name) });
  }
  return new LitterboxError('UNAVAILABLE', text, {
    operation,
    hint: advice`Run ${step('machine-check')} to see what is missing on this machine.`,
  });
}
