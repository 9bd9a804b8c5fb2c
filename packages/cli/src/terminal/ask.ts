import { type Approver, isLitterboxError, LitterboxError } from '@litterbox/core';
import { isDumb } from './is-dumb.ts';

/** Whether there is a person who can be asked. */
export const isAtTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks a person at the terminal; without one the answer is no. */
export const askAtTerminal: Approver = {
  async approve({ question, details }) {
    if (!isAtTerminal()) return false;
    for (const line of details) process.stderr.write(`  ${line}\n`);
    if (isDumb()) return await typedYes(question);
    const { confirm, isCancel: isEscaped } = await import('@clack/prompts');
    const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
    return !isEscaped(answer) && answer;
  },
};

/** A question without anything that moves. The end of the input is a no. */
async function typedYes(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  process.stderr.write(`${question} [y/N] `);
  try {
    for await (const line of lines) return /^y(?:es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}

/** As {@link askAtTerminal}, where nothing is left to do after a no. @throws LitterboxError `PERMISSION_DENIED` when a person says no */
export const askOrCancel: Approver = {
  async approve(request, options) {
    const isApproved = await askAtTerminal.approve(request, options);
    if (isApproved || !isAtTerminal()) return isApproved;
    throw new LitterboxError('PERMISSION_DENIED', 'Cancelled. Nothing was changed.', { operation: CANCEL });
  },
};

const CANCEL = 'cli.ask';

/** Whether a command ended because a person said no: that is no fault of anything. */
export const isCancel = (error: unknown): boolean => isLitterboxError(error) && error.details.operation === CANCEL;
