import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LitterboxError, visibleName } from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import { readConfiguredPaths } from '../person/configured-paths.ts';
import { filteredAmong } from '../person/external-filters.ts';
import type { PlanToken } from '../plan/plan-token.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OPERATION = 'integration.execute';

/**
 * Files are written through the person's own filters. Where the program of one lies in the tree and changes with files that go through
 * it, git would run the new program, or the old one, by chance of the order: neither is what a person said yes to.
 *
 * Changes nothing: the tree is looked at in an index of its own. Its objects must be in the person's repository.
 *
 * @throws LitterboxError `UNSUPPORTED`
 */
export async function requireSteadyFilters(
  user: UserRepository,
  { steps, resultTree }: PlanToken,
  signal: AbortSignal | undefined,
): Promise<void> {
  const configured = await readConfiguredPaths(user, signal);
  const changed = new Set(configured.filtersAmong(steps.map(({ path }) => fromByteString(path))));
  if (changed.size === 0) return;
  const index = join(user.gitDirectory, `index.litterbox-${randomUUID()}`);
  const options = { setting: 'user', environment: { GIT_INDEX_FILE: index }, signal } as const;
  try {
    await user.plumbing.output(['read-tree', resultTree], options);
    const written = steps.filter((step) => step.new).map(({ path }) => path);
    const [first] = await filteredAmong(user, changed, written, index, signal);
    if (first) throw unsteady(first[1], fromByteString(first[0]));
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

function unsteady(filter: string, path: string): LitterboxError {
  return new LitterboxError(
    'UNSUPPORTED',
    `A program of your filter ${visibleName(filter, 60)} changes together with ${visibleName(path)}, which goes through it.`,
    {
      operation: OPERATION,
      hint: 'Read the change of the program. Then bring it in by git itself, as by git merge, or let the sandbox change one of the two.',
    },
  );
}
