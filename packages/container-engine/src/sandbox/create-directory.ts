import { descriptionLine } from '@litterbox/linux-sandbox';
import { isLitterboxError, type ProgressOptions, type SandboxSpec } from '@litterbox/core/provider';
import type { ContainerParts } from './container-parts.ts';
import { copyStill } from '../container/copy-frozen.ts';
import { assertCopyable, assertSupported, describeCopied, describeSandbox } from './describe-sandbox.ts';
import { fillCopy, fillSandbox } from './fill-sandbox.ts';
import { baseNames } from '../engine/layout.ts';
import { removeSandbox } from './remove-sandbox.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** Makes all of a sandbox but its container: image, base tree and directory. */
export async function createDirectory(
  parts: ContainerParts,
  spec: SandboxSpec,
  options?: ProgressOptions,
): Promise<SandboxMeta> {
  const facts = await parts.facts(options);
  await assertSupported(parts, spec, facts, options);
  if (spec.copyOf !== undefined) return await copyDirectory(parts, { ...spec, copyOf: spec.copyOf }, options);
  const { directories } = parts;
  const meta = await describeSandbox(parts, spec, facts, options);
  const fill = () => fillSandbox(directories.layout, meta);
  const { uid } = await directories.host.facts();
  const trees = { ...(uid === 0 && { owner: meta.user }), isConfined: parts.isConfined };
  if (meta.over && (await directories.stage(meta, { bases: baseNames(meta), fill }, options)) === 'staged') return meta;
  // It is as a whole, or somebody took away what its difference lies over.
  const { over: _gone, ...whole } = meta;
  await directories.stageOver(spec.workspace, trees, whole, fill, options);
  return whole;
}

/** As {@link createDirectory}, with the layers of another sandbox, which stands still meanwhile. */
async function copyDirectory(
  parts: ContainerParts,
  spec: SandboxSpec & Required<Pick<SandboxSpec, 'copyOf'>>,
  options?: ProgressOptions,
): Promise<SandboxMeta> {
  const { containers, directories, isConfined } = parts;
  const source = await directories.read(spec.copyOf, options);
  await assertCopyable(directories, isConfined, await parts.facts(options));
  const meta = describeCopied(directories.provider, spec, source);
  const { uid } = await directories.host.facts();
  const script = directories.stagingScript(meta, { fill: fillCopy(directories.layout, source, meta, uid === 0) });
  const toError = (code: number, stderr: string) => directories.stagingError(meta.id, code, stderr);
  try {
    const given = descriptionLine(meta);
    await copyStill({ directories, pauses: containers.pauses, toError }, source, script, { ...options, given });
  } catch (error) {
    if (!isLitterboxError(error, 'ALREADY_EXISTS')) await removeSandbox(parts, meta.id); // what was copied of playground and disk
    throw error;
  }
  return meta;
}
