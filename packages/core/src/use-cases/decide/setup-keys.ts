import { setupInputs } from '../../domain/sandbox/setup-inputs.ts';
import type { NetworkPolicy, Policy } from '../../domain/sandbox/policy.ts';
import { sha256 } from '../../domain/text/sha256.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { findOutsideFiles } from './find-outside-files.ts';
import { outsideDigest } from './outside-digest.ts';
import type { PersonsRepository } from '../../ports/source-control/persons-repository.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/**
 * Under which keys what a setup left is found, and kept. Lower-case hexadecimal.
 *
 * - exact: for this base tree alone. Of a setup that changed or deleted what was in it, and of every setup that is not trusted with more.
 * - general: for every base tree whose files that the setup reads are the same. Of a setup that left something for the history.
 * - silent: the same, of one that left nothing for the history: what it left need not be looked at.
 */
export interface SetupKeys {
  /** Keys of the setups that a sandbox may begin with, best first. */
  readonly wanted: readonly string[];
  /** Whether what is kept there may stand over files of the base: the same setup put it there. */
  isExact(key: string): boolean;
  /** Whether what is kept there holds nothing for the history. */
  isSilent(key: string): boolean;
  /** The one under which what it left is kept. */
  keptUnder(left: { readonly isSilent: boolean; readonly touchesBase: boolean }): string;
}

/** Another number makes everything that was kept before unfindable. */
const FORMAT = 3;

/**
 * @param isShared whether other base trees may begin with what this setup leaves: whoever writes what it runs can leave something there for
 * everybody. It is so when a person asks for a sandbox from a base of theirs
 * @returns undefined when there is no setup
 */
export async function setupKeys(
  repository: PersonsRepository,
  record: Pick<SandboxRecord, 'repositoryId' | 'provider' | 'workdir' | 'policy' | 'baseCommit' | 'baseTree'>,
  isShared: boolean,
  options?: CallOptions,
): Promise<SetupKeys | undefined> {
  const { policy, baseTree } = record;
  if (policy.setup.length === 0) return undefined;
  const { isWithheld = false } = policy.network;
  const isInput = setupInputs(policy);
  // Files of a setup must not hide files that the base has by now: `dist` is made by one commit's setup and part of the next commit.
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
  const described =
    policy.workspaceGit === 'throwaway' ? [await repository.describe({ commit: record.baseCommit }, options)] : [];
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
    ...described,
    // Without its network it may begin with what the same setup left that had one.
    policy.network.setup === 'none' && !isWithheld ? 'none' : networkKey(policy.network),
    ...endpointsKey(policy),
    sorted([...inputs]),
    await outsideDigest(await findOutsideFiles(repository, { commit: record.baseCommit, tree: baseTree }, options)),
    [...top].sort(),
  ]);
  const exact = await digest([general, baseTree]);
  const silent = await digest([general, 'nothing to record']);
  const own = isWithheld ? await digest([exact, 'without a network']) : exact;
  return {
    wanted: [...new Set([own, exact, silent, general])],
    isExact: (key) => key === own || key === exact,
    isSilent: (key) => key === silent,
    keptUnder(left) {
      if (!isShared || isWithheld) return own;
      if (left.isSilent) return silent;
      return left.touchesBase ? exact : general;
    },
  };
}

/**
 * Under which key what is installed into an image is kept: for every base tree whose files that the commands read are the same.
 *
 * @returns undefined when nothing is to be installed
 */
export async function installKey(
  repository: PersonsRepository,
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
    network.setup === 'none' ? 'none' : networkKey(network),
    sorted([...inputs]),
  ]);
}

function sorted(pairs: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...pairs].sort(([one], [other]) => (one < other ? -1 : 1));
}

async function digest(parts: readonly unknown[]): Promise<string> {
  return await sha256(new TextEncoder().encode(JSON.stringify(parts)));
}

/** The endpoints of a setup, withheld or not. Their secret is no matter of what it leaves. */
function endpointsKey({ endpoints = [] }: Policy): readonly unknown[] {
  const found = endpoints.filter(({ inSetup }) => inSetup);
  return found.length === 0
    ? []
    : [found.map(({ name, url, inside, variables, placeholder }) => [name, url, inside, variables, placeholder])];
}

/** As it was before there were hosts of private networks, where there are none. */
function networkKey({ allow = [], deny = [], allowPrivate = [] }: NetworkPolicy): readonly (readonly string[])[] {
  return [allow, deny, ...(allowPrivate.length > 0 ? [allowPrivate] : [])];
}
