import { LitterboxError, shown } from '@litterbox/core/provider';

const REMEDIES = {
  stash: 'Commit or stash them, or use --autostash.',
  move: 'Move or remove these files: git does not know them.',
  parts: 'Commit these files, or do without --autostash: the work goes on from them as they are.',
  begun: 'The sandbox began with these changes: commit them first, or take its work by an apply.',
  filter: 'These files go through a filter whose program may lie in the tree: commit or stash them yourself.',
  unmark:
    'Git was told not to look at these files. Take that back, with git update-index --no-skip-worktree FILE or --no-assume-unchanged FILE, then commit or stash them.',
} as const;

/** @throws LitterboxError `DIRTY_WORKTREE`. */
export function requireClean(paths: readonly string[], remedy: keyof typeof REMEDIES): void {
  if (paths.length === 0) return;
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : '';
  throw new LitterboxError('DIRTY_WORKTREE', `The work tree has changes of its own in ${shown(paths[0])}${more}.`, {
    operation: 'integration.execute',
    hint: REMEDIES[remedy],
    facts: { paths: paths.slice(0, 100) },
  });
}
