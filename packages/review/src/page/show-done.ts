import type { Decided } from './answers.ts';
import { openDialog } from './dialog.ts';
import { element } from './element.ts';
import { counted } from './words.ts';

/** Says how a decision ended. */
export function showDone(
  sandbox: string,
  verb: 'apply' | 'merge',
  { outcome, commit, isDeleted, conflicts }: Decided,
): void {
  const files = `${counted(conflicts.length, 'file')} conflict: ${conflicts.slice(0, 5).join(', ')}.`;
  const words = {
    committed: `${verb === 'merge' ? 'Merged' : 'Committed'} as ${commit?.slice(0, 10)}.`,
    staged: 'The changes are staged: review them and git commit.',
    'up-to-date': 'Nothing to do: your branch has it all.',
    conflicts: `${files} Resolve them and git commit, or go back: git merge --abort.`,
  }[outcome];
  const deleted = isDeleted ? [element('p', {}, `The sandbox ${sandbox} is deleted.`)] : [];
  openDialog(outcome === 'conflicts' ? 'Conflicts are in your work tree' : 'Done', element('p', {}, words), ...deleted);
}
