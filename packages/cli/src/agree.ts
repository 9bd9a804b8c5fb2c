import { LitterboxError } from '@litterbox/core';
import { askAtTerminal } from './ask.ts';

/** Goes on only after a person's yes to a change of files. @throws LitterboxError `NEED_TTY`, `PERMISSION_DENIED` */
export async function assertAgreed(
  question: string,
  files: string,
  operation: string,
  signal: AbortSignal,
): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new LitterboxError('NEED_TTY', `Nobody can be asked about ${files}; nothing was changed.`, {
      operation,
      hint: 'Add --yes to write it.',
    });
  }
  if (await askAtTerminal.approve({ question, details: [] }, { signal })) return;
  throw new LitterboxError('PERMISSION_DENIED', 'You said no; nothing was changed.', { operation });
}
