import { type LitterboxError, failpoint } from '@litterbox/core/provider';
import { COPY_EXITS, runAsking, type ScriptOptions, toldCopy } from '@litterbox/linux-sandbox';
import type { ContainerPauses } from './container-pauses.ts';
import { sandboxLayoutOf } from '../engine/layout.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** What a copy needs to know of where the sandbox is. */
export interface CopyStillInput {
  readonly directories: ContainerDirectories;
  readonly pauses: ContainerPauses;
  /** What an exit code of the copy, and what it printed, mean. */
  toError(code: number, stderr: string): LitterboxError;
}

/**
 * Copies while the sandbox stands still: a container that runs is paused by its engine meanwhile, one that does not run is not started. A
 * program that is killed in between leaves a mark, by which the next one who uses the container lets it go.
 *
 * @param copy shell text for the host, which may ask
 */
export async function copyStill(
  { directories, pauses, toError }: CopyStillInput,
  { id }: SandboxMeta,
  copy: string,
  options?: ScriptOptions,
): Promise<void> {
  const { host, layout } = directories;
  const { directory, copyingMark } = sandboxLayoutOf(layout, id);
  const isMarked = async () => await directories.marksOf(id).isSet('paused');
  let isFrozen = false;
  let isAtWork = false;
  const letGo = async () => {
    if (isFrozen && !(await isMarked())) await pauses.unpause(id, true);
    isFrozen = false;
    if (isAtWork) await host.files.remove(copyingMark);
    isAtWork = false;
  };
  const assertStill = async () => {
    if (isFrozen && !(await pauses.isFrozen(id, options))) throw toError(COPY_EXITS.letGo, '');
  };
  const answer = async (line: string) => {
    if (line === 'copied') {
      // While the lock is held: who copies next must not freeze what is let go a moment later.
      await assertStill();
      await letGo();
    }
    if (line !== 'locked') return;
    isAtWork = true;
    if (!(await isMarked())) {
      isFrozen = true; // whatever becomes of the question: an engine does what it was asked, also for one who has left
      isFrozen = await pauses.freeze(id);
    }
    failpoint('container.after-freeze');
  };
  try {
    const { code, stderr } = await runAsking(host, toldCopy(directory, copy), answer, options);
    if (code !== 0) throw toError(code, stderr);
    await assertStill();
  } finally {
    await letGo();
  }
}
