import { LitterboxError, visibleName } from '@litterbox/core/provider';
import type { ProgramAnswer } from './vm-program.ts';

/** Says that a program ended with a code, and what it said last. */
export function failed(program: string, what: string, { code, stderr }: ProgramAnswer): LitterboxError {
  const said = stderr.trim().split('\n').at(-1) ?? '';
  return new LitterboxError(
    'UNAVAILABLE',
    `${program} ${what} ended with ${code}${said === '' ? '' : `: ${visibleName(said)}`}.`,
    { operation: 'host.open', hint: `Run it by hand: ${program} ${what}.` },
  );
}
