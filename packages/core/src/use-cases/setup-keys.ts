import { setupInputs } from '../domain/setup-inputs.ts';
import { sha256 } from '../domain/sha256.ts';
import type { CallOptions } from '../ports/call.ts';
import type { SourceRepository } from '../ports/source-control.ts';
import type { SandboxRecord } from '../ports/state-store.ts';

/** Under which keys what a setup leaves is kept. Lower-case hexadecimal. */
export interface SetupKeys {
  /** For this base tree alone: of a setup that changed or deleted what was in it. */
  readonly exact: string;
  /** For every base tree whose files that the setup reads are the same: of a setup that left something for the history. */
  readonly general: string;
  /** The same, of one that left nothing for the history: what it left need not be looked at. */
  readonly silent: string;
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
  const isInput = setupInputs(policy);
  // What a setup makes must not hide what the base has by now: `dist` is made by one commit's setup and part of the next commit.
  const top = new Set<string>();
  const inputs = await repository.contentIds(
    baseTree,
    (path) => {
      const cut = path.indexOf('/');
      top.add(cut === -1 ? path : path.slice(0, cut));
      return isInput(path);
    },
    options,
  );
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
    policy.network.setup === 'none' ? 'none' : [policy.network.allow ?? [], policy.network.deny ?? []],
    sorted([...inputs]),
    [...top].sort(),
  ]);
  return { general, exact: await digest([general, baseTree]), silent: await digest([general, 'nothing to record']) };
}

/**
 * Under which key what is installed into an image is kept: for every base tree whose files that the commands read are the same.
 *
 * @returns undefined when nothing is to be installed
 */
export async function installKey(
  repository: SourceRepository,
  record: Pick<SandboxRecord, 'repositoryId' | 'provider' | 'workdir' | 'policy' | 'baseTree'>,
  options?: CallOptions,
): Promise<string | undefined> {
  const { policy, baseTree, repositoryId, provider, workdir } = record;
  const { install, network, environment, root } = policy;
  if (!install || root.type !== 'image') return undefined;
  const inputs = await repository.contentIds(baseTree, setupInputs({ setup: install }), options);
  const parts = [FORMAT, 'install', repositoryId, provider, root.reference, workdir];
  return await digest([
    ...parts,
    sorted(Object.entries(environment)),
    install,
    network.setup === 'none' ? 'none' : [network.allow ?? [], network.deny ?? []],
    sorted([...inputs]),
  ]);
}

function sorted(pairs: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...pairs].sort(([one], [other]) => (one < other ? -1 : 1));
}

async function digest(parts: readonly unknown[]): Promise<string> {
  return await sha256(new TextEncoder().encode(JSON.stringify(parts)));
}
