import { agentPath } from '../../domain/paths/agent-path.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import { copyPath, type FileStatus, makeDirectory, removePath, statusOf } from '../../inside/file-tree.ts';
import { type FoundName, walkFiles } from '../../inside/walk-files.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { lookInto } from '../session/look-into.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';

/** A change of the tree of files, for {@link ManageFiles.change}. */
export interface FileTreeChange {
  readonly sandbox: string;
  /** Absolute inside, or relative to the workdir. */
  readonly path: string;
  readonly action:
    | { readonly type: 'make-directory'; readonly isRecursive: boolean }
    | { readonly type: 'remove'; readonly isRecursive: boolean }
    | { readonly type: 'copy'; readonly to: string; readonly isRecursive: boolean };
  readonly message?: string | undefined;
  /** How long to wait for another call in this sandbox to end. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
  readonly state: StateStore;
  readonly changeWorkspace: ChangeWorkspace;
}

/** Looks at, makes, removes and copies files of a sandbox, inside the sandbox: no path of it ever means anything on the host. */
export class ManageFiles {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The type and size of the file at a path. @throws LitterboxError `NOT_FOUND`. */
  async status(name: string, path: string, options?: CallOptions): Promise<FileStatus> {
    return await this.#look(
      name,
      async (opened, { workdir }) => await statusOf(opened, agentPath(workdir, path).absolute, options),
      options,
    );
  }

  /** The names in a directory, hidden ones too. @throws LitterboxError `NOT_FOUND`, `NOT_A_DIRECTORY`, `PERMISSION_DENIED`, `FILE_TOO_LARGE`. */
  async list(name: string, path: string, options?: CallOptions): Promise<readonly FoundName[]> {
    const { found, isCut } = await this.#look(
      name,
      async (opened, { workdir }) =>
        await walkFiles(opened, workdir, path, { depth: 'children', withHidden: true }, options),
      options,
    );
    if (!isCut) return found;
    throw new LitterboxError('FILE_TOO_LARGE', `${shown(path)} has more names than can be listed.`, {
      operation: 'files.list',
      hint: 'List it with a command inside the sandbox.',
    });
  }

  /** Records what it changes. @throws LitterboxError as the functions of `file-tree.ts`, and `PATH_GIT_DIR`. */
  async change(
    { sandbox, path, action, message, waitMs }: FileTreeChange,
    options?: CallOptions,
  ): Promise<RevisionResult> {
    const target = ({ workdir }: SandboxRecord) => writable(workdir, path, action.type);
    const subject = action.type === 'copy' ? `${path} ${action.to}` : path;
    const { recorded } = await this.#needs.changeWorkspace.change(
      {
        sandbox,
        operation: 'sandbox-write',
        trigger: { tool: action.type, subject, message },
        input: { path: subject.slice(0, 4096), action: action.type },
        waitMs,
        check(record) {
          target(record);
        },
        async act(opened, record) {
          const { isRecursive } = action;
          if (action.type === 'make-directory') await makeDirectory(opened, target(record), isRecursive, options);
          else if (action.type === 'remove') await removePath(opened, target(record), isRecursive, options);
          else {
            const to = writable(record.workdir, action.to, 'copy');
            await copyPath(opened, [agentPath(record.workdir, path).absolute, to], isRecursive, options);
          }
        },
      },
      options,
    );
    return recorded;
  }

  async #look<Found>(
    name: string,
    look: (opened: OpenedSandbox, record: SandboxRecord) => Promise<Found>,
    options?: CallOptions,
  ): Promise<Found> {
    const record = await this.#needs.findSandbox.find(name, options);
    const places = { open: this.#needs.openSandboxes, state: this.#needs.state };
    return await lookInto(places, record, async (opened) => await look(opened, record), options);
  }
}

function writable(workdir: string, path: string, action: FileTreeChange['action']['type']): string {
  const { absolute } = agentPath(workdir, path, { isWritten: true });
  if (action !== 'remove' || absolute.replace(/\/+$/, '') !== workdir) return absolute;
  throw new LitterboxError('PERMISSION_DENIED', 'The workspace itself cannot be removed.', {
    operation: 'file.remove',
    hint: 'Remove what is in it.',
  });
}
