import type { Approver } from '@litterbox/core';

/** Whether there is a person who can be asked. */
export const isAtTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks a person at the terminal; without one the answer is no. */
export const askAtTerminal: Approver = {
  async approve({ question, details }) {
    if (!isAtTerminal()) return false;
    const { confirm, isCancel } = await import('@clack/prompts');
    for (const line of details) process.stderr.write(`  ${line}\n`);
    const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
    return !isCancel(answer) && answer;
  },
};
