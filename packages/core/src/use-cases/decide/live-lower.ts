import { LitterboxError } from '../../domain/errors/errors.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import { secretPaths } from '../../domain/secrets/secret-files.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Base, BaseSource, FoundBase, PersonsRepository } from '../../ports/source-control/persons-repository.ts';
import type { LiveLower } from '../../ports/sandbox/sandbox-provider.ts';

/** How many names a message holds. */
const TOLD = 5;

const isSecret = (path: string) => secretPaths(path).length > 0;

/**
 * Sees that no file that looks like a secret is neither ignored nor committed: it would be in the base, and with it in our store. Before the
 * base is made, for that writes what is in it.
 *
 * @throws LitterboxError `PERMISSION_DENIED`
 */
export async function assertSecretsIgnored(repository: PersonsRepository, options?: CallOptions): Promise<void> {
  const { tree } = await repository.base({ type: 'head' }, options);
  const [committed, changed] = await Promise.all([
    repository.contentIds(tree, isSecret, options),
    repository.leftOut(Number.MAX_SAFE_INTEGER, options),
  ]);
  const open = changed.paths.filter((path) => isSecret(path) && !committed.has(path));
  if (open.length === 0) return;
  throw openSecrets(open, open.length);
}

/**
 * A base may lack what looks like a secret, which the working tree shows.
 *
 * @throws LitterboxError `PERMISSION_DENIED`
 */
export function assertNothingHeldBack({ heldBack }: Pick<FoundBase, 'heldBack'>): void {
  if (!heldBack) return;
  const paths = heldBack.files.map(({ path }) => path);
  throw openSecrets(paths, heldBack.total);
}

function openSecrets(open: readonly string[], total: number): LitterboxError {
  const more = total > TOLD ? ` and ${total - TOLD} more` : '';
  return new LitterboxError(
    'PERMISSION_DENIED',
    `Files that look like secrets are neither ignored nor committed, so an agent would see them: ${open.slice(0, TOLD).map(shown).join(', ')}${more}.`,
    {
      operation: 'sandbox.create',
      hint: 'Add them to .gitignore, which hides them; commit those that are not secrets; or leave out lower = "live".',
      facts: { paths: open.slice(0, 100), total },
    },
  );
}

/**
 * Describes the working tree, whose content is the base, for a provider.
 *
 * @throws LitterboxError `LIVE_TREE_CHANGED` when it is another one already; `UNSUPPORTED` when git does not look at all files
 */
export async function liveLower(
  repository: PersonsRepository,
  { tree }: Pick<Base, 'tree'>,
  options?: CallOptions,
): Promise<LiveLower> {
  const [tracked, drift, hiddenPaths] = await Promise.all([
    repository.contentIds(tree, isSecret, options),
    repository.drift(tree, options),
    repository.ignoredSecrets(options),
  ]);
  if (drift.total > 0)
    throw new LitterboxError(
      'LIVE_TREE_CHANGED',
      `The working tree changed while the sandbox was being made: ${drift.paths.slice(0, TOLD).map(shown).join(', ')}.`,
      { operation: 'sandbox.create', hint: 'Create it again.', facts: { paths: drift.paths, total: drift.total } },
    );
  return {
    directory: repository.root,
    hiddenPaths,
    shownPaths: [...new Set([...tracked.keys()].flatMap((path) => secretPaths(path)))],
  };
}

/** The base of a sandbox that stands on the working tree: its files of now. @throws LitterboxError `INVALID_ARGUMENT` for any other base */
export function liveSource(from: BaseSource | undefined): BaseSource {
  if (from === undefined || from.type === 'worktree') return { type: 'worktree' };
  throw new LitterboxError(
    'INVALID_ARGUMENT',
    'With lower = "live" a sandbox starts from the working tree and from nothing else.',
    {
      operation: 'sandbox.create',
      hint: 'Leave out --from, or use --lower frozen.',
    },
  );
}

/** @throws LitterboxError `CONFIG_VALUE`: ignored files are there already, and go on changing with the person's builds */
export function assertNothingIncluded({ include = [] }: Policy): void {
  if (include.length === 0) return;
  throw new LitterboxError(
    'CONFIG_VALUE',
    'include and lower = "live" cannot be combined: the working tree already has the files that git ignores.',
    {
      operation: 'sandbox.create',
      hint: 'Remove include, or use --lower frozen.',
    },
  );
}
