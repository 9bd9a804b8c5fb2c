import { setupInputs } from '../domain/setup-inputs.ts';
import { sha256 } from '../domain/sha256.ts';
import type { CallOptions } from '../ports/call.ts';
import type { SourceRepository } from '../ports/source-control.ts';
import type { SandboxRecord } from '../ports/state-store.ts';

/** Under which keys what a setup leaves is kept. Lower-case hexadecimal. */
export interface SetupKeys {
  /** For this base tree alone: of a setup that changed or deleted what was in it. */
  readonly exact: string;
  /** For every base tree whose files that the setup reads are the same. */
  readonly general: string;
}

/** Another number makes everything that was kept before unfindable. */
const FORMAT = 1;

/** @returns undefined when there is no setup */
export async function setupKeys(
  repository: SourceRepository,
  record: Pick<SandboxRecord, 'repositoryId' | 'provider' | 'workdir' | 'policy' | 'baseTree'>,
  options?: CallOptions,
): Promise<SetupKeys | undefined> {
  const { policy, baseTree } = record;
  if (policy.setup.length === 0) return undefined;
  const inputs = await repository.contentIds(baseTree, setupInputs(policy), options);
  const general = await digest([
    FORMAT,
    record.repositoryId, // what a setup reads beyond its inputs is another in another repository
    record.provider,
    policy.strategy ?? '',
    policy.root,
    record.workdir,
    sorted(Object.entries(policy.environment)),
    policy.setup,
    policy.workspaceGit,
    policy.network.setup,
    sorted([...inputs]),
  ]);
  return { general, exact: await digest([general, baseTree]) };
}

function sorted(pairs: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...pairs].sort(([one], [other]) => (one < other ? -1 : 1));
}

async function digest(parts: readonly unknown[]): Promise<string> {
  return await sha256(new TextEncoder().encode(JSON.stringify(parts)));
}
