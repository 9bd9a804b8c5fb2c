import { sha256 } from '../../domain/text/sha256.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** Another number makes everything that was prepared before stale. */
const FORMAT = 1;

/** The decisions of a create, apart from the name and the id. */
export type DecidedSandbox = Pick<
  SandboxRecord,
  'repositoryId' | 'repositoryRoot' | 'provider' | 'baseCommit' | 'baseTree' | 'workdir' | 'policy'
>;

/**
 * Digest of everything that a create decides: two creates with the same one make the same sandbox. What a provider finds out by
 * itself, such as the identity of an image, it looks at when it gives a sandbox away.
 */
export async function poolFingerprint(
  repository: Pick<SourceRepository, 'describe'>,
  decided: DecidedSandbox,
  options?: CallOptions,
): Promise<string> {
  const { repositoryId, repositoryRoot, provider, baseCommit, baseTree, workdir, policy } = decided;
  // A tag that was set since is another version inside.
  const described =
    policy.workspaceGit === 'throwaway' ? [await repository.describe({ commit: baseCommit }, options)] : [];
  const parts = [FORMAT, repositoryId, repositoryRoot, provider, baseCommit, baseTree, workdir, policy, ...described];
  return await sha256(new TextEncoder().encode(JSON.stringify(parts, sortedMembers)));
}

/** The same text for objects with the same members, whatever the order in which they were written. */
function sortedMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
