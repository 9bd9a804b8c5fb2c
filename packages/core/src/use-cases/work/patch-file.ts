import { agentPath, type AgentPath } from '../../domain/paths/agent-path.ts';
import { applyPatch } from '../../domain/patch/apply-patch.ts';
import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import type { FilePatch } from '../../domain/patch/file-patch.ts';
import { parsePatch } from '../../domain/patch/parse-patch.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import { isThere, readForChange, removeContent, writeContent } from '../../inside/file-contents.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';

/** A patch for one file of a sandbox. */
export interface PatchFileInput {
  readonly sandbox: string;
  readonly path: string;
  /** A unified diff, or a patch as Codex writes them, for this file alone. */
  readonly diff: string;
  readonly message?: string | undefined;
  /** How long to wait for another call in this sandbox to end. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
}

/** The change that a patch made. */
export interface PatchResult {
  /** The path's name in answers. */
  readonly path: string;
  readonly outcome: 'created' | 'modified' | 'moved' | 'deleted' | 'already-applied';
  /** The name of the path that the file was moved to. */
  readonly movedTo?: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** How many lines away from where it says its first hunk was found. */
  readonly shiftedBy?: number;
  /** Faults of the patch that were forgiven. */
  readonly notes: readonly string[];
  /** The file as it is now; absent when there is none. */
  readonly content?: Uint8Array;
  readonly recorded: RevisionResult;
}

interface Needs {
  readonly changeWorkspace: ChangeWorkspace;
}

/** Applies a patch to one file of a sandbox: on the host, to the bytes, so that every image does it alike. */
export class PatchFile {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `PATCH_*`, `PATH_*`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`. */
  async patch(input: PatchFileInput, options?: CallOptions): Promise<PatchResult> {
    const { sandbox, path, diff, message, waitMs } = input;
    let parsed: ParsedPatch | undefined;
    const { outcome, recorded } = await this.#needs.changeWorkspace.change(
      {
        sandbox,
        operation: 'sandbox-patch',
        trigger: { tool: 'patch', subject: path, message },
        input: { path: path.slice(0, 4096), bytes: diff.length },
        waitMs,
        check({ workdir }) {
          const target = agentPath(workdir, path, { isWritten: true });
          const patch = parsePatch(diff, target.shown);
          const { moveTo } = patch;
          parsed = {
            target,
            patch,
            ...(moveTo !== undefined && { moveTo: agentPath(workdir, moveTo, { isWritten: true }) }),
          };
        },
        async act(opened) {
          if (!parsed) throw new Error('A patch is parsed before it is applied.');
          return await apply(opened, parsed, options);
        },
        summary: (done) => ({ outcome: done.outcome }),
      },
      options,
    );
    return { ...outcome, recorded };
  }
}

interface ParsedPatch {
  readonly target: AgentPath;
  readonly patch: FilePatch;
  readonly moveTo?: AgentPath;
}

async function apply(
  opened: OpenedSandbox,
  { target, patch, moveTo }: ParsedPatch,
  options?: CallOptions,
): Promise<Omit<PatchResult, 'recorded'>> {
  const current = await contentOf(opened, target, options);
  if (moveTo) await assertFree(opened, moveTo, options);
  const result = applied(target, patch, current);
  const base = { path: target.shown, addedLines: 0, removedLines: 0, notes: patch.notes };
  if (result.type === 'already-applied')
    return { ...base, outcome: 'already-applied', ...(current && { content: current }) };
  const { content, executable, addedLines, removedLines, notes, shiftedBy } = result;
  const counts = { addedLines, removedLines, notes, ...(shiftedBy !== undefined && { shiftedBy }) };
  if (content === undefined) {
    await removeContent(opened, target.absolute, options);
    return { ...base, ...counts, outcome: 'deleted' };
  }
  if (moveTo) {
    // Written before the old one goes: whatever ends the call, one of them is there.
    const isExecutable = await isExecutableThere(opened, target, options);
    await writeContent(opened, moveTo.absolute, content, { ...options, isExecutable });
    await removeContent(opened, target.absolute, options);
    return { ...base, ...counts, outcome: 'moved', movedTo: moveTo.shown, content };
  }
  await writeContent(opened, target.absolute, content, { ...options, isExecutable: executable });
  return { ...base, ...counts, outcome: current ? 'modified' : 'created', content };
}

async function contentOf(
  opened: OpenedSandbox,
  target: AgentPath,
  options?: CallOptions,
): Promise<Uint8Array | undefined> {
  try {
    return await readForChange(opened, target.absolute, options);
  } catch (error) {
    if (isLitterboxError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** @throws LitterboxError `PATCH_CONFLICT` when something is there, whatever it is. */
async function assertFree(opened: OpenedSandbox, target: AgentPath, options?: CallOptions): Promise<void> {
  if (!(await isThere(opened, target.absolute, options))) return;
  throw new LitterboxError('PATCH_CONFLICT', `The file is not moved to ${shown(target.shown)}: something is there.`, {
    operation: 'sandbox.patch',
    hint: 'Name a path where nothing is, or delete what is there first.',
  });
}

async function isExecutableThere({ channel }: OpenedSandbox, target: AgentPath, options?: CallOptions) {
  return (await channel.run({ argv: [target.absolute], script: '[ -x "$1" ]' }, options)).exit.code === 0;
}

/** The message of a conflict does not show a hidden file's content either. */
function applied(target: AgentPath, patch: FilePatch, current: Uint8Array | undefined) {
  try {
    return applyPatch(patch, current);
  } catch (error) {
    if (!target.isHidden || !isLitterboxError(error)) throw error;
    throw new LitterboxError(error.code, `The patch does not fit ${JSON.stringify(target.shown)}, a hidden file.`, {
      operation: 'file.patch',
      hint: 'Look at it with bash: cat.',
    });
  }
}
