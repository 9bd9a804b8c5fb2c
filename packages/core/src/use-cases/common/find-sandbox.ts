import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';
import { type Slug, slugify } from '../../domain/sandbox/slug.ts';
import { visible } from '../../domain/text/visible.ts';
import type { AuditEntry, AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { RepositoryId } from '../../domain/sandbox/ids.ts';
import type { OpenRepository } from './open-repository.ts';

/** Longest list of names that an error repeats. */
const MAX_NAMES = 10;
/** How far back the audit log is searched for what became of a sandbox; who asks has mostly worked in it a moment ago. */
const MAX_ENTRIES = 1_000;

interface Needs {
  readonly state: StateStore;
  readonly openRepository: OpenRepository;
  readonly audit: AuditLog;
}

/** The record of the sandbox of that name in this repository. */
export class FindSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `SANDBOX_NOT_FOUND`, and what `slugify` throws. */
  async find(name: string, options?: CallOptions): Promise<SandboxRecord> {
    const { slug } = slugify(name);
    const { id } = await this.#needs.openRepository.open(options);
    const record = await this.#needs.state.find(id, slug, options);
    if (record) return record;
    const end = await this.#endOf(id, slug, options);
    if (end) throw goneSandbox(slug, end);
    const names = (await this.#needs.state.list(id, options)).map((one) => one.slug);
    const list =
      names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '');
    throw new LitterboxError('SANDBOX_NOT_FOUND', `There is no sandbox ${shown(slug)} in this repository.`, {
      operation: 'sandbox.find',
      hint: names.length === 0 ? advice`Make one: ${step('sandbox-create')}.` : `There are: ${list}.`,
    });
  }

  /** The call that ended the last sandbox of that name; nothing where the audit log does not tell. */
  async #endOf(repositoryId: RepositoryId, slug: Slug, options?: CallOptions): Promise<AuditEntry | undefined> {
    const entries = await this.#needs.audit.entries({ repositoryId, limit: MAX_ENTRIES }, options).catch(() => {
      options?.signal?.throwIfAborted();
      return [];
    });
    return entries.find(
      ({ operation, outcome, input }) =>
        (operation === 'sandbox-delete' || operation === 'sandbox-merge') &&
        outcome !== 'error' &&
        input['name'] === slug,
    );
  }
}

/** Names no other sandbox: the work of whoever asks is over, and not to be gone on with in one of somebody else. */
function goneSandbox(slug: Slug, { operation, actor, atMs, input }: AuditEntry): LitterboxError {
  const { into } = input;
  const isMerged = operation === 'sandbox-merge';
  const what = isMerged ? `merged${typeof into === 'string' ? ` into ${shown(into)}` : ''}` : 'deleted';
  const who = actor === 'cli' ? 'a person, on the command line' : visible(actor);
  const when = new Date(atMs).toISOString();
  return new LitterboxError(
    'SANDBOX_NOT_FOUND',
    `The sandbox ${shown(slug)} was ${what} on ${when.slice(0, 10)} at ${when.slice(11, 16)} UTC (by ${who}).`,
    {
      operation: 'sandbox.find',
      hint: advice`Its work is over. To start something new: ${step('sandbox-create')}.`,
      facts: { end: isMerged ? 'merged' : 'deleted', atMs, actor },
    },
  );
}
