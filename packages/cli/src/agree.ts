import { LitterboxError } from '@litterbox/core';
import { askAtTerminal } from './ask.ts';

/** Goes on only after a person's yes to the writing of files. @throws LitterboxError `NEED_TTY`, `PERMISSION_DENIED` */
export async function assertAgreed(files: string, operation: string, signal: AbortSignal): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new LitterboxError('NEED_TTY', `Nobody can be asked about ${files}; nothing was changed.`, {
      operation,
      hint: 'Add --yes to write it.',
    });
  }
  if (await askAtTerminal.approve({ question: `Write ${files}?`, details: [] }, { signal })) return;
  throw new LitterboxError('PERMISSION_DENIED', 'You said no; nothing was changed.', { operation });
}
