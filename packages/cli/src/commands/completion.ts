import tab from '@bomb.sh/tab/commander';
import { listSandboxes } from '@litterbox/core';
import type { Command } from 'commander';
import { loadLitterbox } from '../load-litterbox.ts';

/** Adds `completion SHELL`, which prints a script, and the hidden `complete` that the script asks back. */
export async function addCompletion(program: Command, isAsked: boolean): Promise<void> {
  const completions = tab(program, { completionCommandName: 'completion' });
  if (!isAsked) return;
  await using litterbox = await loadLitterbox(process.cwd(), { approve: async () => false });
  const names = await litterbox.perform(listSandboxes, {}).catch(() => []); // outside a repository there is nothing to complete
  for (const command of completions.commands.values()) {
    const argument = command.arguments.get('name');
    if (argument) argument.handler = (add) => names.forEach(({ name, state }) => add(name, state));
  }
}
