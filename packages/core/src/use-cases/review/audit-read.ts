import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { audited, isAudited } from '../common/audited.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly audit: AuditLog;
  readonly actor: string;
}

/** Puts into the audit log what agents ask for and no other use case writes down: what only reads records, and what is refused. */
export class AuditRead {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** A call that reads what is known of all sandboxes. */
  async ofRepository<Result>(operation: string, body: () => Promise<Result>, options?: CallOptions): Promise<Result> {
    const { id: repositoryId } = await this.#needs.openRepository.open(options);
    return await audited(
      this.#needs.audit,
      { operation, actor: this.#needs.actor, repositoryId, input: {}, isRead: true },
      body,
    );
  }

  /** A call that reads the record and the history of one, and does not look into it. */
  async ofSandbox<Result>(
    operation: string,
    name: string,
    body: (record: SandboxRecord) => Promise<Result>,
    options?: CallOptions,
  ): Promise<Result> {
    const record = await this.#needs.findSandbox.find(name, options);
    const { id: sandbox, repositoryId } = record;
    const start = { operation, actor: this.#needs.actor, repositoryId, sandbox, input: {}, isRead: true };
    return await audited(this.#needs.audit, start, () => body(record));
  }

  /** A call that ended before it came to its own entries: arguments that are none, a sandbox that is not there. */
  async recordRefusal(operation: string, error: unknown): Promise<void> {
    if (isAudited(error)) return;
    const repository = await this.#needs.openRepository.open().catch(() => undefined); // perhaps that is what is missing
    const finish = await this.#needs.audit.start({
      operation,
      actor: this.#needs.actor,
      ...(repository && { repositoryId: repository.id }),
      input: {},
      isRead: true,
    });
    await finish('error', { code: isLitterboxError(error) ? error.code : 'ABORTED_OR_INTERNAL' });
  }
}
