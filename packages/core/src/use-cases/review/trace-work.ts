import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { ObjectId } from '../../domain/sandbox/ids.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { BlameFile } from './blame-file.ts';
import type { LookAtSandbox } from './look-at-sandbox.ts';

/** Files of which lines are traced; the rest is counted. */
const MAX_FILES = 500;
/** Doors at which people and their programs call: nobody knows who wrote what came in there. */
const UNKNOWN: ReadonlySet<string | undefined> = new Set(['cli', 'library', undefined]);

/** Lines of one file that one call wrote. */
export interface TracedLines {
  /** `ai` where an agent called; `unknown` where a person or a program did, whose command may have been an agent. */
  readonly contributor: 'ai' | 'unknown';
  /** The number of the call, as the log has it. */
  readonly call?: number;
  /** The door of the call, or the agent's name. Hostile. */
  readonly actor?: string;
  /** Counted from 1, both ends included. */
  readonly ranges: readonly { readonly firstLine: number; readonly lastLine: number }[];
}

/** The changed lines of a sandbox, and the calls that wrote them. */
export interface WorkTrace {
  readonly sandbox: string;
  readonly tip: ObjectId;
  readonly atMs: number;
  readonly files: readonly { readonly path: string; readonly calls: readonly TracedLines[] }[];
  /** Changed files that are not in it: too many, too large, or no text. */
  readonly leftOut: number;
}

interface Needs {
  readonly lookAtSandbox: LookAtSandbox;
  readonly openRepository: OpenRepository;
  readonly blameFile: BlameFile;
}

/** Traces all changed lines of a sandbox to the calls that wrote them, for tools that keep such records. */
export class TraceWork {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `SANDBOX_NOT_FOUND` */
  async trace(name: string, options?: ProgressOptions): Promise<WorkTrace> {
    const { record, tip } = await this.#needs.lookAtSandbox.look(name, options);
    const repository = await this.#needs.openRepository.open(options);
    const changes = await repository.changes(record.id, { ...options, upTo: tip.commit });
    const written = changes.filter(({ status }) => status !== 'deleted');
    const files: WorkTrace['files'][number][] = [];
    for (const { path, binary } of written.slice(0, MAX_FILES)) {
      const calls = binary ? undefined : await this.#calls(name, path, options);
      if (calls) files.push({ path, calls });
    }
    const { slug: sandbox } = record;
    return { sandbox, tip: tip.commit, atMs: Date.now(), files, leftOut: written.length - files.length };
  }

  async #calls(name: string, path: string, options?: ProgressOptions): Promise<readonly TracedLines[] | undefined> {
    const blamed = await this.#needs.blameFile.blame(name, path, options).catch((error: unknown) => {
      if (isLitterboxError(error, 'FILE_TOO_LARGE') || isLitterboxError(error, 'NOT_A_REGULAR_FILE')) return undefined;
      throw error;
    });
    if (!blamed) return undefined;
    const calls = new Map<string, TracedLines & { readonly ranges: { firstLine: number; lastLine: number }[] }>();
    for (const { firstLine, lines, made } of blamed.changes) {
      const { call, actor, number } = made;
      const range = { firstLine, lastLine: firstLine + lines.length - 1 };
      const before = calls.get(`${call ?? ''} ${number}`);
      if (before) {
        before.ranges.push(range);
        continue;
      }
      const contributor = UNKNOWN.has(actor) ? 'unknown' : 'ai';
      const facts = { ...(call !== undefined && { call }), ...(actor !== undefined && { actor }) };
      calls.set(`${call ?? ''} ${number}`, { contributor, ...facts, ranges: [range] });
    }
    return [...calls.values()];
  }
}
