import type { AuditEntry, AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenRepository } from './open-repository.ts';

/** Reads the audit log of this repository, and checks the chain of the whole log. */
export class ReadAudit {
  readonly #find: FindSandbox;
  readonly #repository: OpenRepository;
  readonly #audit: AuditLog;

  constructor(find: FindSandbox, repository: OpenRepository, audit: AuditLog) {
    this.#find = find;
    this.#repository = repository;
    this.#audit = audit;
  }

  /** The newest entries, of one sandbox or of all. */
  async entries(
    { sandbox, limit }: { readonly sandbox?: string | undefined; readonly limit?: number | undefined },
    options?: CallOptions,
  ): Promise<readonly AuditEntry[]> {
    const { id } = await this.#repository.execute(options);
    const of = sandbox === undefined ? {} : { sandbox: (await this.#find.execute(sandbox, options)).id };
    return await this.#audit.entries({ repositoryId: id, ...of, ...(limit !== undefined && { limit }) }, options);
  }

  /** @throws LitterboxError `AUDIT_TAMPERED`. */
  async verify(options?: CallOptions): Promise<{ readonly entries: number }> {
    return await this.#audit.verify(options);
  }
}
