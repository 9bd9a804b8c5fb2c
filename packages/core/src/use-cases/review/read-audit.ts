import type { AuditEntry, AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly audit: AuditLog;
}

/** Reads the audit log of this repository, and checks the chain of the whole log. */
export class ReadAudit {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The newest entries, of one sandbox or of all. */
  async entries(
    { sandbox, limit }: { readonly sandbox?: string | undefined; readonly limit?: number | undefined },
    options?: CallOptions,
  ): Promise<readonly AuditEntry[]> {
    const { id } = await this.#needs.openRepository.open(options);
    const of = sandbox === undefined ? {} : { sandbox: (await this.#needs.findSandbox.find(sandbox, options)).id };
    return await this.#needs.audit.entries({ repositoryId: id, ...of, ...(limit !== undefined && { limit }) }, options);
  }

  /** @throws LitterboxError `AUDIT_TAMPERED`. */
  async verify(options?: CallOptions): Promise<{ readonly entries: number }> {
    return await this.#needs.audit.verify(options);
  }
}
