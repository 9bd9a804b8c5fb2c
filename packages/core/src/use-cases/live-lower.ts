import { LitterboxError } from '../domain/errors.ts';
import { KEY_NAMES, SECRET_NAMES, secretPaths } from '../domain/secret-names.ts';
import { shown } from '../domain/shown.ts';
import type { CallOptions } from '../ports/call.ts';
import type { Base, PersonsRepository } from '../ports/persons-repository.ts';
import type { LiveLower } from '../ports/sandbox-provider.ts';

/** How many names a message holds. */
const TOLD = 5;

/**
 * What a provider is told of the working tree, whose content is the base.
 *
 * @throws LitterboxError `PERMISSION_DENIED` when a file that looks like a secret is neither ignored nor committed: it would be in the base, and
 *   with it in the history; `UNSUPPORTED` when git does not look at all files
 */
export async function liveLower(
  repository: PersonsRepository,
  base: Pick<Base, 'tree'>,
  options?: CallOptions,
): Promise<LiveLower> {
  const isSecret = (path: string) => secretPaths(path).length > 0;
  const [all, head] = await Promise.all([
    repository.contentIds(base.tree, isSecret, options),
    repository.base({ type: 'head' }, options).then(({ tree }) => repository.contentIds(tree, isSecret, options)),
  ]);
  const open = [...all.keys()].filter((path) => !head.has(path));
  if (open.length > 0) {
    throw new LitterboxError(
      'PERMISSION_DENIED',
      `Files that look like secrets are neither ignored nor committed, so an agent would see them: ${open.slice(0, TOLD).map(shown).join(', ')}${open.length > TOLD ? ` and ${open.length - TOLD} more` : ''}.`,
      {
        operation: 'sandbox.create',
        hint: 'Name them in .gitignore, and they are hidden; or commit what is no secret; or leave out lower = "live".',
        facts: { paths: open.slice(0, 100), total: open.length },
      },
    );
  }
  const drift = await repository.drift(base.tree, options);
  if (drift.total > 0)
    throw new LitterboxError(
      'LIVE_TREE_CHANGED',
      `The working tree changed while the sandbox was being made: ${drift.paths.slice(0, TOLD).map(shown).join(', ')}.`,
      { operation: 'sandbox.create', hint: 'Create it again.', facts: { paths: drift.paths, total: drift.total } },
    );
  return {
    directory: repository.root,
    hiddenNames: ['.git', '.litterbox', ...SECRET_NAMES],
    keyNames: KEY_NAMES,
    shownPaths: [...new Set([...all.keys()].flatMap((path) => secretPaths(path)))],
  };
}
