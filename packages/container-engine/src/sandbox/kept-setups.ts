import { keepLayers, LayeredSetups, TAKE_LAYERS_BACK } from '@litterbox/linux-sandbox';
import type { ContainerEnds } from '../container/end-container.ts';
import { setupDirectory } from '../engine/layout.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** What setups left in containers: two layers, of the workspace and of the home directory, for each key and image. */
export function keptSetups(directories: ContainerDirectories, ends: ContainerEnds): LayeredSetups<SandboxMeta> {
  const { host, layout } = directories;
  return new LayeredSetups({
    directories,
    parents: [layout.setups],
    directoryOf: ({ imageId, prepared }) =>
      prepared === undefined ? undefined : setupDirectory(layout, imageId, prepared),
    placeOf: async (meta, key, call) => {
      const { uid } = await host.facts(call);
      const next: SandboxMeta = { ...meta, prepared: key };
      return {
        parent: layout.setups,
        name: setupDirectory(layout, meta.imageId, key).slice(layout.setups.length + 1),
        keep: keepLayers(uid === 0 ? `${meta.user.uid}:${meta.user.gid}` : ''),
        takeBack: TAKE_LAYERS_BACK,
        meta: next,
      };
    },
    end: async (id, call) => {
      await ends.removeContainer(id, call); // it is made again, on the kept layers, when the sandbox is used
      return '';
    },
  });
}
