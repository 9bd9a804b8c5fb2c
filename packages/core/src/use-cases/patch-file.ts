import { agentPath, type AgentPath } from '../domain/agent-path.ts';
import { applyPatch } from '../domain/apply-patch.ts';
import { isLitterboxError, LitterboxError } from '../domain/errors.ts';
import { type FilePatch, parsePatch } from '../domain/parse-patch.ts';
import type { CallOptions } from '../ports/call.ts';
import type { RecordResult } from '../ports/source-control.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import { readContent, removeContent, writeContent } from './file-contents.ts';
import type { OpenedSandbox } from './open-sandboxes.ts';

/** A unified diff for one sandbox. */
export interface PatchFileInput {
  readonly sandbox: string;
  readonly path: string;
  /** One unified diff, for this file alone. */
  readonly diff: string;
  readonly message?: string | undefined;
  /** How long to wait for another call in this sandbox to end. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
}

/** What a patch changed. */
export interface PatchResult {
  /** What the path is called in answers. */
  readonly path: string;
  readonly outcome: 'created' | 'modified' | 'deleted' | 'already-applied';
  readonly addedLines: number;
  readonly removedLines: number;
  /** How many lines away from where it says its first hunk was found. */
  readonly shiftedBy?: number;
  /** The file as it is now; absent when there is none. */
  readonly content?: Uint8Array;
  readonly recorded: RecordResult;
}

/** Applies a unified diff to one file of a sandbox: on the host, to the bytes, so that every image does it alike. */
export class PatchFile {
  readonly #change: ChangeWorkspace;

  constructor(change: ChangeWorkspace) {
    this.#change = change;
  }

  /** @throws LitterboxError `PATCH_*`, `PATH_*`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`. */
  async execute(input: PatchFileInput, options?: CallOptions): Promise<PatchResult> {
    const { sandbox, path, diff, message, waitMs } = input;
    let parsed: { readonly target: AgentPath; readonly patch: FilePatch } | undefined;
    const { outcome, recorded } = await this.#change.execute(
      {
        sandbox,
        operation: 'sandbox-patch',
        trigger: { tool: 'patch', subject: path, message },
        input: { path: path.slice(0, 4096), bytes: diff.length },
        waitMs,
        check({ workdir }) {
          const target = agentPath(workdir, path, { isWritten: true });
          parsed = { target, patch: parsePatch(diff, target.shown) };
        },
        async act(opened) {
          if (!parsed) throw new Error('A patch is parsed before it is applied.');
          return await apply(opened, parsed.target, parsed.patch, options);
        },
        summary: (done) => ({ outcome: done.outcome }),
      },
      options,
    );
    return { ...outcome, recorded };
  }
}

async function apply(
  opened: OpenedSandbox,
  target: AgentPath,
  patch: FilePatch,
  options?: CallOptions,
): Promise<Omit<PatchResult, 'recorded'>> {
  const current = await contentOf(opened, target, options);
  const result = applied(target, patch, current);
  const base = { path: target.shown, addedLines: 0, removedLines: 0 };
  if (result.type === 'already-applied')
    return { ...base, outcome: 'already-applied', ...(current && { content: current }) };
  const { content, executable, addedLines, removedLines, shiftedBy } = result;
  const counts = { addedLines, removedLines, ...(shiftedBy !== undefined && { shiftedBy }) };
  if (content === undefined) {
    await removeContent(opened, target.absolute, options);
    return { ...base, ...counts, outcome: 'deleted' };
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
    return await readContent(opened, target.absolute, options);
  } catch (error) {
    if (isLitterboxError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** What a hidden file holds is not told by the message of a conflict either. */
function applied(target: AgentPath, patch: FilePatch, current: Uint8Array | undefined) {
  try {
    return applyPatch(patch, current);
  } catch (error) {
    if (!target.isHidden || !isLitterboxError(error)) throw error;
    throw new LitterboxError(error.code, `The patch does not fit ${JSON.stringify(target.shown)}, a hidden file.`, {
      operation: 'file.patch',
      hint: 'Hidden files are not read; replace it as a whole with write.',
    });
  }
}
