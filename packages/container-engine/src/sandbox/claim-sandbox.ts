import { type ProgressOptions, failpoint, type SandboxId, type SandboxSpec } from '@litterbox/core/provider';
import { assertClaimable, notHere, unlike } from '@litterbox/sandbox-kit';
import type { ContainerParts } from './container-parts.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** Makes a prepared sandbox somebody's. @returns its description from then on, and the engine's id of its container, which runs */
export async function claimSandbox(
  { directories, containers: { claims }, images, installed: installedImages }: ContainerParts,
  id: SandboxId,
  spec: SandboxSpec,
  options?: ProgressOptions,
): Promise<{ readonly meta: SandboxMeta; readonly container: string }> {
  const { provider } = directories;
  const made = await directories.read(id, options);
  const { image: reference, installed } = made;
  const root = { type: 'image', reference, ...(installed !== undefined && { installed }) } as const;
  assertClaimable(provider, spec, { ...made, root });
  const [imageId, container] = await Promise.all([
    installed === undefined ? images.idOf(reference, options) : installedImages.idOf(reference, installed, options),
    claims.waiting(made, options).catch(async (error: unknown) => {
      // Whoever came first has given the container another name by now.
      throw (await directories.state(id))?.isPooled ? error : notHere(provider, id);
    }),
  ]);
  if (imageId !== made.imageId) throw unlike(provider, `the image ${made.image} is another now`);
  await directories.claim(id, options);
  failpoint('container.after-claim-mark');
  const meta: SandboxMeta = { ...made, slug: spec.slug };
  await Promise.all([directories.rewrite(meta), claims.giveAway(container, meta, options)]);
  failpoint('container.after-claim-thaw');
  await directories.marksOf(id).clear('paused');
  options?.signal?.throwIfAborted();
  return { meta, container: container.id };
}
