import { ExecChannel } from '../../channel/exec-channel.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { SandboxId } from '../../domain/sandbox/ids.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { FoundBase } from '../../ports/source-control/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import { type OpenNetwork, tellRefusals } from '../network/open-network.ts';
import { runSetupCommands, setupFailed } from './run-setup-commands.ts';
import { installKey } from '../decide/setup-keys.ts';
import { specOf } from '../decide/spec-of.ts';

/** The name, inside, of the place in which something is installed. */
const INSTALLER_SLUG = 'installer' as Slug;

/** The settings that the image of a sandbox depends on. */
export type InstalledSandbox = Pick<
  SandboxRecord,
  'repositoryId' | 'provider' | 'workdir' | 'policy' | 'baseCommit' | 'baseTree'
>;

interface Needs {
  readonly state: Pick<StateStore, 'lease' | 'begin' | 'end'>;
  readonly audit: AuditLog;
  readonly openNetwork: OpenNetwork;
  readonly actor: string;
}

/** Installs into the image of sandboxes what their policy says, once for all that have the same. */
export class InstallImage {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Sees that what the policy installs is in an image, and installs it when it is not.
   *
   * @param base where the files that are installed from were found
   * @param isFresh whether it is installed anew whatever is kept
   * @returns the policy with the image that it is in
   * @throws LitterboxError `SETUP_FAILED`; nothing is left then. `PERMISSION_DENIED` when it is to be installed from what no person made.
   */
  async install(
    repository: SourceRepository,
    provider: SandboxProvider,
    sandbox: InstalledSandbox,
    base: Pick<FoundBase, 'isPersons'>,
    isFresh: boolean,
    options?: ProgressOptions,
  ): Promise<Policy> {
    const { policy } = sandbox;
    const { root } = policy;
    const key = await installKey(repository, sandbox, options);
    if (key === undefined || root.type !== 'image') return policy;
    if (!base.isPersons && (isFresh || !(await isKept(provider, policy, key, options))))
      throw new LitterboxError(
        'PERMISSION_DENIED',
        'container.install-command runs as root on the files of your current commit, and only branches of agents hold that commit.',
        {
          operation: 'sandbox.create',
          hint: 'Review and merge that commit, or check out a branch of your own, then try again.',
        },
      );
    await this.#ensure(repository, provider, sandbox, key, isFresh, options);
    return { ...policy, root: { ...root, installed: key } };
  }

  /**
   * The same for a sandbox that is made anew: with the image that it was made of, and where that is gone, with what the person's own
   * commit installs now.
   *
   * @returns its policy, which may name another image now
   */
  async installAgain(
    repository: SourceRepository,
    provider: SandboxProvider,
    sandbox: InstalledSandbox,
    options?: ProgressOptions,
  ): Promise<Policy> {
    const { policy } = sandbox;
    const { root } = policy;
    // A record that was lost and made anew does not know which image it was.
    if (root.type !== 'image' || !policy.install) return policy;
    if (root.installed !== undefined && (await isKept(provider, policy, root.installed, options))) return policy;
    const base = await repository.base({ type: 'head' }, options);
    return await this.install(repository, provider, { ...sandbox, baseTree: base.tree }, base, false, options);
  }

  async #ensure(
    repository: SourceRepository,
    provider: SandboxProvider,
    sandbox: InstalledSandbox,
    key: string,
    isFresh: boolean,
    options?: ProgressOptions,
  ): Promise<void> {
    const isThere = async () => !isFresh && (await isKept(provider, sandbox.policy, key, options));
    if (await isThere()) return;
    const wait = { ...options, waitMs: sandbox.policy.setupTimeoutMs };
    await using _lease = await this.#needs.state.lease(`image:${key}`, 'install', wait);
    if (await isThere()) return; // another process installed it meanwhile
    const id = SandboxId.make();
    const start = {
      operation: INSTALLING,
      actor: this.#needs.actor,
      repositoryId: sandbox.repositoryId,
      sandbox: id,
      input: { provider: provider.name },
    };
    await audited(this.#needs.audit, start, async () => {
      // Nobody else knows of the place: a killed process leaves it to `reconcile`, which reads the provider's name here.
      const journal = await this.#needs.state.begin({ operation: INSTALLING, sandbox: id, step: provider.name });
      const clear = async () => {
        await provider.remove(id);
        await this.#needs.state.end(journal.id);
      };
      try {
        await this.#install(repository, provider, { ...sandbox, id }, key, options);
      } catch (error) {
        await clear().catch(() => {}); // why it failed matters more; what is left is in the journal
        throw error;
      }
      await clear();
    });
  }

  async #install(
    repository: SourceRepository,
    provider: SandboxProvider,
    sandbox: InstalledSandbox & { readonly id: SandboxId },
    key: string,
    options?: ProgressOptions,
  ): Promise<void> {
    const { policy, baseCommit: commit, baseTree: tree } = sandbox;
    const { endpoints: _none, ...unaided } = policy; // nothing listens while an image is made
    const { root, install = [] } = policy;
    if (root.type !== 'image') return;
    options?.onProgress?.({ step: 'image', message: `Installing into ${root.reference}` });
    const { reference } = root;
    const spec = await specOf({ ...sandbox, slug: INSTALLER_SLUG }, { commit, tree }, repository, options);
    await using runtime = await provider.create(
      { ...spec, root: { type: 'image', reference }, playground: sandbox.id, isInstaller: true },
      options,
    );
    failpoint('install.after-create');
    await using channel = new ExecChannel(runtime);
    const isOpen = policy.network.setup !== 'none';
    await using network = isOpen
      ? await this.#needs.openNetwork.open(sandbox, runtime, tellRefusals(options))
      : undefined;
    const failed = await runSetupCommands(
      install,
      { ...sandbox, policy: unaided },
      channel,
      'Installing',
      network,
      options,
    );
    if (failed) {
      const hint = 'Correct container.install-command and create the sandbox again.';
      throw setupFailed('install command', failed, sandbox, hint, network);
    }
    failpoint('install.before-keep');
    options?.onProgress?.({ step: 'image', message: 'Keeping what was installed' });
    await provider.images?.keep(sandbox.id, key, options);
    failpoint('install.after-keep');
  }
}

/** In the audit log, and in the journal, there with the provider's name as the step. */
export const INSTALLING = 'image-install';

async function isKept(
  provider: SandboxProvider,
  { root }: Policy,
  key: string,
  options?: CallOptions,
): Promise<boolean> {
  return root.type === 'image' && (await provider.images?.has(root.reference, key, options)) === true;
}
