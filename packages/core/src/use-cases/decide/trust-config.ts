import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import type { DecidePolicy, ReadConfig } from './decide-policy.ts';
import type { OpenRepository } from '../common/open-repository.ts';

interface Needs {
  readonly openRepository: OpenRepository;
  readonly decidePolicy: DecidePolicy;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly actor: string;
}

/** Writes down that a person agrees to what the configuration asks for, as it stands now. */
export class TrustConfig {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async status(options?: CallOptions): Promise<ReadConfig> {
    return await this.#needs.decidePolicy.read(await this.#needs.openRepository.open(options), options);
  }

  /** @param contentHash what the person was shown, so that a file that changed meanwhile is not agreed to */
  async trust(contentHash: string, options?: CallOptions): Promise<ReadConfig> {
    const repository = await this.#needs.openRepository.open(options);
    const config = await this.#needs.decidePolicy.read(repository, options);
    if (config.isTrusted || config.contentHash !== contentHash) return config;
    await audited(
      this.#needs.audit,
      { operation: 'config-trust', actor: this.#needs.actor, repositoryId: repository.id, input: { contentHash } },
      () => this.#needs.state.trust(repository.id, contentHash, config.trustText),
    );
    return { ...config, isTrusted: true };
  }
}
