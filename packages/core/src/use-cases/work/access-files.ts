import { agentPath } from '../../domain/paths/agent-path.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import { fileRefusal, isThere, MAX_FILE_BYTES, readContent, writeContent } from '../../inside/file-contents.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { lookInto } from '../session/look-into.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';

/** A file to replace as a whole. */
export interface WriteFileInput {
  readonly sandbox: string;
  /** Absolute inside, or relative to the workdir. */
  readonly path: string;
  readonly content: Uint8Array;
  /** The revision's subject, in the caller's words. */
  readonly message?: string | undefined;
  /** How long to wait for another call in this sandbox to end. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
}

/** Several files to replace as a whole. */
export interface WriteFilesInput extends Pick<WriteFileInput, 'sandbox' | 'message' | 'waitMs'> {
  /** At least one. */
  readonly files: readonly Pick<WriteFileInput, 'path' | 'content'>[];
}

/** How a file was replaced. */
export interface WriteFileResult {
  readonly recorded: RevisionResult;
  /** A hidden file was there, which the tools of agents do not read: its content went unread. */
  readonly isHiddenReplaced: boolean;
  /** It lies outside of the workspace: in no diff and no merge. */
  readonly isOutside: boolean;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
  readonly state: StateStore;
  readonly changeWorkspace: ChangeWorkspace;
}

/** Reads and writes files of a sandbox, inside the sandbox: no path of it ever means anything on the host. */
export class AccessFiles {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`. */
  async read(name: string, path: string, options?: CallOptions): Promise<Uint8Array> {
    const record = await this.#needs.findSandbox.find(name, options);
    const target = agentPath(record.workdir, path).absolute;
    const places = { open: this.#needs.openSandboxes, state: this.#needs.state };
    return await lookInto(places, record, async (opened) => await readContent(opened, target, options), options);
  }

  /** Replaces the file and records it. @throws LitterboxError as {@link read}, and `PATH_GIT_DIR`. */
  async write(input: WriteFileInput, options?: CallOptions): Promise<WriteFileResult> {
    const { sandbox, path, content, message, waitMs } = input;
    if (content.length > MAX_FILE_BYTES) throw fileRefusal('file.write', path, 43);
    const { outcome, recorded } = await this.#needs.changeWorkspace.change(
      {
        sandbox,
        operation: 'sandbox-write',
        trigger: { tool: 'write', subject: path, message },
        input: { path: path.slice(0, 4096), bytes: content.length },
        waitMs,
        check: ({ workdir }) => void agentPath(workdir, path, { isWritten: true }),
        async act(opened, { workdir }) {
          const target = agentPath(workdir, path, { isWritten: true });
          const isHiddenReplaced = target.isHidden && (await isThere(opened, target.absolute, options));
          await writeContent(opened, target.absolute, content, options);
          failpoint('write.after-rename');
          return { isHiddenReplaced, isOutside: !target.isInWorkspace };
        },
      },
      options,
    );
    return { ...outcome, recorded };
  }

  /** Replaces files one after the other and records them as one revision. The first that fails ends it. @throws as {@link write}. */
  async writeAll({ sandbox, files, message, waitMs }: WriteFilesInput, options?: CallOptions): Promise<RevisionResult> {
    const tooLarge = files.find(({ content }) => content.length > MAX_FILE_BYTES);
    if (tooLarge) throw fileRefusal('file.write', tooLarge.path, 43);
    const first = files[0]?.path ?? '';
    const subject = files.length > 1 ? `${first} and ${files.length - 1} more` : first;
    const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
    const { recorded } = await this.#needs.changeWorkspace.change(
      {
        sandbox,
        operation: 'sandbox-write',
        trigger: { tool: 'write', subject, message },
        input: { path: first.slice(0, 4096), files: files.length, bytes },
        waitMs,
        check({ workdir }) {
          for (const { path } of files) agentPath(workdir, path, { isWritten: true });
        },
        async act(opened, { workdir }) {
          for (const { path, content } of files)
            await writeContent(opened, agentPath(workdir, path, { isWritten: true }).absolute, content, options);
        },
      },
      options,
    );
    return recorded;
  }
}
