import { type CallOptions, type Host, reach } from '@litterbox/core/provider';
import { COPY_EXITS, copyError, runAsking, toldCopy } from '@litterbox/linux-sandbox';
import type { Containers } from './containers.ts';
import { type Layout, sandboxLayoutOf } from './layout.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** What a copy needs to know of where the sandbox is. */
export interface CopyStillInput {
  /** For messages. */
  readonly operation: string;
  readonly provider: string;
  readonly host: Host;
  readonly layout: Layout;
  readonly containers: Containers;
}

/**
 * Copies while the sandbox stands still: a container that runs is paused by its engine meanwhile, one that does not run is not started. A
 * program that is killed in between leaves a mark, by which the next one who uses the container lets it go.
 *
 * @param copy shell text for the host, which may ask
 */
export async function copyStill(
  { operation, provider, host, layout, containers }: CopyStillInput,
  { id }: SandboxMeta,
  copy: string,
  call?: CallOptions,
): Promise<void> {
  const { directory, copyingMark, pausedMark } = sandboxLayoutOf(layout, id);
  const isMarked = async () => (await host.files.stat(pausedMark)) !== undefined;
  let isFrozen = false;
  let isAtWork = false;
  const letGo = async () => {
    if (isFrozen && !(await isMarked())) await containers.unpause(id, true);
    isFrozen = false;
    if (isAtWork) await host.files.remove(copyingMark);
    isAtWork = false;
  };
  const assertStill = async () => {
    if (isFrozen && !(await containers.isFrozen(id, call))) throw copyError(operation, provider, COPY_EXITS.letGo, '');
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
      isFrozen = await containers.freeze(id);
    }
    reach('container.after-freeze');
  };
  try {
    const { code, stderr } = await runAsking(host, toldCopy(directory, copy), answer, call);
    if (code !== 0) throw copyError(operation, provider, code, stderr);
    await assertStill();
  } finally {
    await letGo();
  }
}
