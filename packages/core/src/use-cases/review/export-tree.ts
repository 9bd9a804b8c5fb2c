import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RiskyChange } from '../../ports/source-control/persons-repository.ts';
import type { AcceptWork, GivenConsent } from './accept-work.ts';
import { assertPersons } from '../common/assert-persons.ts';
import { audited } from '../common/audited.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';

/** An export that is asked for. */
export interface ExportTreeInput extends Pick<GivenConsent, 'tip' | 'acceptRisky'> {
  readonly sandbox: string;
  /** Called with that list before anything is asked or written. */
  readonly onRisky?: ((risky: readonly RiskyChange[]) => void) | undefined;
}

/** Where the files are that a person may look into, and what of them can run code. */
export interface ExportedTree {
  readonly directory: string;
  readonly files: number;
  readonly risky: readonly RiskyChange[];
  /** How many revisions the sandbox has, and how many of them came after the last milestone, so that the files are without them. */
  readonly revisions: number;
  readonly unmilestoned: number;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly audit: AuditLog;
  readonly acceptWork: AcceptWork;
  readonly actor: string;
}

/**
 * Writes the files of the review branch for a person to look into. To look is to run where an editor or a tool is started there, so the
 * person sees what can run and says yes, as for an apply.
 */
export class ExportTree {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `CHANGED_SINCE_SHOWN`, `RISKY_CHANGES`; nothing is written then. */
  async export({ sandbox, ...input }: ExportTreeInput, options?: CallOptions): Promise<ExportedTree> {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    const { id, slug, repositoryId } = record;
    const repository = await this.#needs.openRepository.open(options);
    assertPersons(repository, slug, 'worktree');
    const { tree, revision, risky } = await repository.planExport(id, options);
    return await audited(
      this.#needs.audit,
      { operation: 'sandbox-worktree', actor: this.#needs.actor, repositoryId, sandbox: id, input: { tree } },
      async () => {
        const tip = await repository.resolve(id, String(revision), options);
        const question = `Write the files of ${slug}`;
        const work = { record, tip, risky, slug, verb: 'worktree' as const, question };
        // Before the first milestone there is nothing of the sandbox's in it.
        const consent = revision === 0 && input.tip === undefined ? { ...input, tip: '0' } : input;
        const named = await this.#needs.acceptWork.assertNamed(work, consent.tip, options);
        if (risky.length > 0) input.onRisky?.(risky);
        await this.#needs.acceptWork.accept(work, { ...consent, tip: named }, options);
        const { revisions = 0, unmilestoned = 0 } = (await repository.works([id], options)).get(id) ?? {};
        return { ...(await repository.exportTree(id, { ...options, tree })), risky, revisions, unmilestoned };
      },
    );
  }
}
