import type { ObjectId } from '../../domain/sandbox/ids.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { BlamedLines } from '../../ports/source-control/sandbox-histories.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { LookAtSandbox } from './look-at-sandbox.ts';
import type { CalledRevision, ReadHistory } from './read-history.ts';

/** Changed lines of a file, one after the other, and the call that wrote them. */
export interface BlamedChange extends BlamedLines {
  /** The revision as the log has it: its subject, call, command and exit status. */
  readonly made: CalledRevision;
}

/** A file of a sandbox, as far as it differs from what the sandbox began with. */
export interface FileBlame {
  readonly tip: ObjectId;
  /** In the order of the file. Empty where nothing in it changed, or lines only went. */
  readonly changes: readonly BlamedChange[];
  /** One sentence: why the workspace was not looked into, so that its last changes may be missing. */
  readonly unsettled?: string;
}

interface Needs {
  readonly lookAtSandbox: LookAtSandbox;
  readonly openRepository: OpenRepository;
  readonly readHistory: ReadHistory;
}

/** Leads each changed line of a file to the call that wrote it. */
export class BlameFile {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `SANDBOX_NOT_FOUND`; `NOT_FOUND`, `NOT_A_REGULAR_FILE` and `FILE_TOO_LARGE` of the file. */
  async blame(name: string, path: string, options?: ProgressOptions): Promise<FileBlame> {
    const { record, tip, unsettled } = await this.#needs.lookAtSandbox.look(name, options);
    const repository = await this.#needs.openRepository.open(options);
    const lines = await repository.blame(record.id, path, { ...options, upTo: tip.commit });
    const entries = await this.#needs.readHistory.read(name, { quietCalls: true }, options);
    const revisions = new Map(entries.flatMap((entry) => (entry.type === 'revision' ? [[entry.number, entry]] : [])));
    const changes = lines.flatMap((run) => {
      const made = revisions.get(run.revision);
      return made ? [{ ...run, made }] : []; // none of the base
    });
    return { tip: tip.commit, changes, ...(unsettled !== undefined && { unsettled }) };
  }
}
