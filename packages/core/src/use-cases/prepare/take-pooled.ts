import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { PooledSandbox, SandboxPool } from '../../ports/sandbox/sandbox-pool.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { BaseSource, FoundBase } from '../../ports/source-control/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import { decidedWorkdir } from '../decide/decided-workdir.ts';
import type { DecidedPolicy } from '../decide/decide-policy.ts';
import { policyForBase } from '../decide/policy-for-base.ts';
import { poolFingerprint } from './pool-fingerprint.ts';

/** One that was prepared, and the base that was read to find it. */
export interface TakenSandbox {
  readonly pooled: PooledSandbox;
  readonly base: FoundBase;
}

interface Needs {
  readonly pool: SandboxPool;
}

/** Takes out of the pool what a create would make, so that it need not be made. */
export class TakePooled {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @returns undefined when there is none. @throws LitterboxError `UNSUPPORTED` when the pool is asked for and the provider has none. */
  async take(
    repository: SourceRepository,
    provider: SandboxProvider,
    decided: DecidedPolicy,
    policy: Policy,
    source: BaseSource,
    options?: CallOptions,
  ): Promise<TakenSandbox | undefined> {
    // Artefacts are of this moment.
    if (decided.pool === 0 || policy.include) return undefined;
    assertPoolable(provider);
    const base = await repository.base(source, options).catch((error: unknown) => {
      if (isLitterboxError(error)) return undefined; // read again by who makes one, where it is audited
      throw error;
    });
    if (!base) return undefined;
    const fingerprint = await poolFingerprint(
      repository,
      {
        repositoryId: repository.id,
        repositoryRoot: repository.root,
        provider: provider.name,
        baseCommit: base.commit,
        baseTree: base.tree,
        workdir: decidedWorkdir(decided, provider, policy, repository),
        policy: policyForBase(policy, base),
      },
      options,
    );
    const pooled = await this.#needs.pool.take(
      { repositoryId: repository.id, provider: provider.name, fingerprint },
      options,
    );
    failpoint('pool.after-take');
    return pooled && { pooled, base };
  }

  /** It is a sandbox like any other from now on. */
  async release({ id }: PooledSandbox): Promise<void> {
    await this.#needs.pool.remove(id);
  }
}

/** @throws LitterboxError `UNSUPPORTED` when sandboxes of the provider cannot be prepared. */
export function assertPoolable(provider: SandboxProvider): void {
  if (provider.claim) return;
  throw new LitterboxError('UNSUPPORTED', `pool is not supported (provider ${provider.name}).`, {
    operation: 'pool.fill',
    provider: provider.name,
    hint: 'Remove pool, or use another provider.',
  });
}
