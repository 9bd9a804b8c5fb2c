import { agentPath } from '../../domain/paths/agent-path.ts';
import { assertReplaces, replaceText } from '../../domain/patch/replace-text.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import { MAX_FILE_BYTES, readForChange, writeContent } from '../../inside/file-contents.ts';

/** A text of a file, and what it is to become. */
export interface EditFileInput {
  readonly sandbox: string;
  /** Absolute inside, or relative to the workdir. */
  readonly path: string;
  readonly old: string;
  readonly new: string;
  /** Wherever the old text stands; otherwise it has to stand in one place alone. */
  readonly isEverywhere: boolean;
  readonly message?: string | undefined;
  /** How long to wait for another call in this sandbox to end. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
}

/** The change that an edit made. */
export interface EditResult {
  /** The path's name in answers. */
  readonly path: string;
  readonly places: number;
  /** The lines, from 1, in which the first places begin. */
  readonly lines: readonly number[];
  /** The file's line ends, when the texts had others and were taken with these. */
  readonly lineEnds?: 'CRLF' | 'LF';
  readonly recorded: RevisionResult;
}

interface Needs {
  readonly changeWorkspace: ChangeWorkspace;
}

/** Replaces a text in one file of a sandbox: on the host, in the bytes, so that every image does it alike. */
export class EditFile {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `EDIT_*`, `PATH_*`, `NOT_FOUND`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`. */
  async edit(input: EditFileInput, options?: CallOptions): Promise<EditResult> {
    const { sandbox, path, old, new: fresh, isEverywhere, message, waitMs } = input;
    const { outcome, recorded } = await this.#needs.changeWorkspace.change(
      {
        sandbox,
        operation: 'sandbox-edit',
        trigger: { tool: 'edit', subject: path, message },
        input: { path: path.slice(0, 4096), bytes: fresh.length, all: isEverywhere },
        waitMs,
        check({ workdir }) {
          const target = agentPath(workdir, path, { isWritten: true });
          assertReplaces({ path: target.shown, old, new: fresh });
        },
        async act(opened, { workdir }) {
          const target = agentPath(workdir, path, { isWritten: true });
          const replacement = { path: target.shown, old, new: fresh, isEverywhere, maxBytes: MAX_FILE_BYTES };
          const done = replaceText(replacement, await readForChange(opened, target.absolute, options));
          await writeContent(opened, target.absolute, done.content, options);
          const { content: _content, ...facts } = done;
          return { path: target.shown, ...facts };
        },
        summary: ({ places }) => ({ places }),
      },
      options,
    );
    return { ...outcome, recorded };
  }
}
