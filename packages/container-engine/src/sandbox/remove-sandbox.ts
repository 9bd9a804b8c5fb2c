import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, encodeRaw, failpoint, type RemoveOptions, type SandboxId } from '@litterbox/core/provider';
import { UNFINISHED } from '@litterbox/linux-sandbox';
import { clearWork, REMOVED_IMAGE } from './clear-work.ts';
import type { ContainerParts } from './container-parts.ts';
import { LOOK_AGAIN_MS } from '../engine/stale-state.ts';
import { sandboxLayoutOf } from '../engine/layout.ts';

/** How long an engine may take to make what a program asked for that has ended: tens of milliseconds, hundreds on a busy machine. */
const LATECOMERS_MS = 1_000;

/** Removes container, volumes and directory of a sandbox. Absent is fine. */
export async function removeSandbox(parts: ContainerParts, id: SandboxId, options?: RemoveOptions): Promise<void> {
  const { containers, directories, setups } = parts;
  const { host, layout } = directories;
  const { directory, meta, unfinishedMark } = sandboxLayoutOf(layout, id);
  const gone = `${layout.sandboxes}/${UNFINISHED}${id}`;
  // The directory is made before the container and goes after it: without one, the engine has nothing of it and need not even run.
  const isThere = await Promise.all([directory, gone].map((path) => host.files.stat(path)));
  const isAny = isThere.some(Boolean);
  const isUnfinished = isAny && (await host.files.stat(unfinishedMark)) !== undefined;
  if (isAny) {
    // An engine that is away, or is another one, has to show before anything goes.
    const found = await containers.find(id, options);
    const described = found ? undefined : await directories.read(id, options).catch(() => undefined);
    if (described) await containers.assertOwn(described, options);
    const isOfRoot = await isOfRootsEngine(parts, options);
    if (isOfRoot) await noteImage(parts, id, options);
    // First what a container is made from: whoever makes one at this moment finds that it is gone, and takes it away again.
    await host.files.remove(meta);
    failpoint('container.before-remove');
    await containers.ends.remove(id, options);
    if (isOfRoot) for (const path of [directory, gone]) await clearWork(parts, path, options);
  }
  await directories.remove(id, { swept: setups.swept }, options);
  if (isAny) await sweepEngine(parts, isUnfinished ? LATECOMERS_MS : 0);
}

/** Whether overlays are mounted by root for a user who is not root. */
async function isOfRootsEngine({ directories, facts }: ContainerParts, options?: CallOptions): Promise<boolean> {
  const { uid } = await directories.host.facts(options);
  return uid !== 0 && !(await facts(options)).isRootless;
}

/** Notes of which image it was, before the description of the sandbox goes. One that cannot be read was noted before, or is broken. */
async function noteImage({ directories }: ContainerParts, id: SandboxId, options?: CallOptions): Promise<void> {
  const { host } = directories;
  const meta = await directories.read(id, options).catch(() => undefined);
  if (meta)
    await host.files.write(`${directories.filesOf(id).directory}/${REMOVED_IMAGE}`, encodeRaw(meta.imageId), options);
}

/**
 * Takes away what the engine made for a program that was killed or gave up meanwhile: it finishes what it was asked for, whoever is
 * there to hear of it, so that it may come after everything else of the sandbox is gone.
 *
 * @param patienceMs for how long it may still come
 */
async function sweepEngine({ containers: { ends }, directories }: ContainerParts, patienceMs: number): Promise<void> {
  for (const limit = performance.now() + patienceMs; ; await delay(LOOK_AGAIN_MS)) {
    for (const id of await ends.known())
      if (!(await directories.host.files.stat(directories.filesOf(id).directory))) await ends.remove(id);
    if (performance.now() >= limit) return;
  }
}
