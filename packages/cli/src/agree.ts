import { LitterboxError } from '@litterbox/core';
import { askOrCancel, isAtTerminal } from './terminal/ask.ts';

/** Goes on only after a person's yes to a change of files. @throws LitterboxError `NEED_TTY`, `PERMISSION_DENIED` */
export async function assertAgreed(
  question: string,
  files: string,
  operation: string,
  signal: AbortSignal,
): Promise<void> {
  if (!isAtTerminal()) {
    throw new LitterboxError(
      'NEED_TTY',
      `Litterbox asks before it writes ${files}, and there is no terminal to ask at. Nothing was changed.`,
      {
        operation,
        hint: 'Add --yes to write it.',
      },
    );
  }
  await askOrCancel.approve({ question, details: [] }, { signal });
}
