import type { AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import type { StateStore } from '../ports/state-store.ts';
import { audited } from './audited.ts';
import type { DecidePolicy, ReadConfig } from './decide-policy.ts';
import type { OpenRepository } from './open-repository.ts';

/** Writes down that a person agrees to what the configuration asks for, as it stands now. */
export class TrustConfig {
  readonly #repository: OpenRepository;
  readonly #policy: DecidePolicy;
  readonly #state: StateStore;
  readonly #audit: AuditLog;
  readonly #actor: string;

  constructor(repository: OpenRepository, policy: DecidePolicy, state: StateStore, audit: AuditLog, actor: string) {
    this.#repository = repository;
    this.#policy = policy;
    this.#state = state;
    this.#audit = audit;
    this.#actor = actor;
  }

  async status(options?: CallOptions): Promise<ReadConfig> {
    return await this.#policy.read(await this.#repository.execute(options), options);
  }

  /** @param contentHash what the person was shown, so that a file that changed meanwhile is not agreed to */
  async execute(contentHash: string, options?: CallOptions): Promise<ReadConfig> {
    const repository = await this.#repository.execute(options);
    const config = await this.#policy.read(repository, options);
    if (config.isTrusted || config.contentHash !== contentHash) return config;
    await audited(
      this.#audit,
      { operation: 'config-trust', actor: this.#actor, repositoryId: repository.id, input: { contentHash } },
      () => this.#state.trust(repository.id, contentHash, config.trustText),
    );
    return { ...config, isTrusted: true };
  }
}
