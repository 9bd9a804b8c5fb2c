import { isLitterboxError } from '../domain/errors.ts';
import type { SandboxId } from '../domain/ids.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import { audited, isAudited } from './audited.ts';
import type { OpenRepository } from './open-repository.ts';

/** Puts into the audit log what agents ask for and no other use case writes down: what only reads records, and what is refused. */
export class AuditRead {
  readonly #repository: OpenRepository;
  readonly #audit: AuditLog;
  readonly #actor: string;

  constructor(repository: OpenRepository, audit: AuditLog, actor: string) {
    this.#repository = repository;
    this.#audit = audit;
    this.#actor = actor;
  }

  /** A call that reads records and histories, and looks into no sandbox. */
  async execute<Result>(
    operation: string,
    sandbox: SandboxId | undefined,
    body: () => Promise<Result>,
    options?: CallOptions,
  ): Promise<Result> {
    const { id: repositoryId } = await this.#repository.execute(options);
    const about = { operation, actor: this.#actor, repositoryId, ...(sandbox !== undefined && { sandbox }) };
    return await audited(this.#audit, { ...about, input: {}, isRead: true }, body);
  }

  /** A call that ended before it came to its own entries: arguments that are none, a sandbox that is not there. */
  async refused(operation: string, error: unknown): Promise<void> {
    if (isAudited(error)) return;
    const repository = await this.#repository.execute().catch(() => undefined); // perhaps that is what is missing
    const finish = await this.#audit.start({
      operation,
      actor: this.#actor,
      ...(repository && { repositoryId: repository.id }),
      input: {},
      isRead: true,
    });
    await finish('error', { code: isLitterboxError(error) ? error.code : 'ABORTED_OR_INTERNAL' });
  }
}
