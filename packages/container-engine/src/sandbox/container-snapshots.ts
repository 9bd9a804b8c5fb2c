import { copyError, copyTree, LayerSnapshots, runScriptOrFail } from '@litterbox/linux-sandbox';
import { cannotHonour } from '@litterbox/sandbox-kit';
import type { CallOptions } from '@litterbox/core/provider';
import type { Containers } from '../container/containers.ts';
import { copyStill } from '../container/copy-frozen.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/**
 * Snapshots of the layers of workspace and home.
 *
 * @param assertCopyable rejects where this user cannot copy layers
 */
export function containerSnapshots(
  directories: ContainerDirectories,
  { ends, pauses }: Containers,
  assertCopyable: (options?: CallOptions) => Promise<void>,
): LayerSnapshots<SandboxMeta> {
  const { host, provider } = directories;
  const toError = (code: number, stderr: string) => copyError('snapshot.take', provider, code, stderr);
  return new LayerSnapshots<SandboxMeta>({
    directories,
    layersOf: () => ['upper', 'home'].map((name) => ({ name, copy: copyTree })),
    assertCopyable,
    isRoot: async () => (await host.facts()).uid === 0,
    still: (meta, script, call) => copyStill({ directories, pauses, toError }, meta, script, call),
    ended: async ({ id }, script) => {
      await ends.removeContainer(id); // it is made again, on the layers of then, when the sandbox is used
      await runScriptOrFail(host, 'snapshot.restore', script);
    },
    restored: ({ prepared: _prepared, newer: _newer, artefacts: _artefacts, over: _over, ...meta }, kept) => {
      if (meta.imageId !== kept.imageId)
        throw cannotHonour(
          provider,
          `a snapshot of a sandbox of the image ${kept.image} in one of ${meta.image}`,
          'Make a sandbox of that image.',
        );
      return {
        ...meta,
        base: kept.base,
        ...(kept.over && { over: kept.over }),
        ...(kept.prepared !== undefined && { prepared: kept.prepared }),
        ...(kept.newer !== undefined && { newer: kept.newer }),
        ...(kept.artefacts !== undefined && { artefacts: kept.artefacts }),
        isCopy: true,
      };
    },
  });
}
