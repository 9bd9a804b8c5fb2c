import type Docker from 'dockerode';
import { homeVolume, workspaceVolume } from './container-options.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { LABELS } from '../engine/labels.ts';
import { baseNames, layersOf, type Layout, setupDirectory } from '../engine/layout.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** The volumes of a sandbox: its workspace over its base, and its home over that of a kept setup where it stands on one. */
export function overlayVolumes(
  layout: Layout,
  meta: SandboxMeta,
  facts: EngineFacts,
): readonly Docker.VolumeCreateOptions[] {
  const { upper, work, home, homeWork } = layersOf(layout, meta);
  const setup = meta.prepared === undefined ? undefined : setupDirectory(layout, meta.imageId, meta.prepared);
  const over = meta.newer ?? meta.artefacts;
  const lower = [
    ...(setup === undefined ? [] : [`${setup}/upper`]),
    ...(over === undefined ? [] : [`${layout.bases}/${over}`]),
    ...baseNames(meta).map((name) => `${layout.bases}/${name}`),
  ];
  const volume = (Name: string, directories: string) => ({
    Name,
    Driver: 'local',
    DriverOpts: { type: 'overlay', device: 'overlay', o: `${directories},${overlayOptions(facts)}` },
    Labels: { [LABELS.id]: meta.id },
  });
  return [
    volume(workspaceVolume(meta.id), `lowerdir=${lower.join(':')},upperdir=${upper},workdir=${work}`),
    ...(setup === undefined
      ? []
      : [volume(homeVolume(meta.id), `lowerdir=${setup}/home,upperdir=${home},workdir=${homeWork}`)]),
  ];
}

/** Where the layers of an overlay's options are that it writes. */
export function upperDirectories(options: string): readonly string[] {
  return options
    .split(',')
    .flatMap((option) => (option.startsWith('upperdir=') ? [option.slice('upperdir='.length)] : []));
}

// redirect_dir, metacopy and index off: nothing in the upper layer may refer to another place by name or handle, for the
// agent writes that layer. A mount in a user namespace keeps its marks in user.*. https://docs.kernel.org/filesystems/overlayfs.html
function overlayOptions({ isRootless }: EngineFacts): string {
  return `${isRootless ? 'userxattr' : 'redirect_dir=nofollow'},metacopy=off,index=off,xino=off,nosuid,nodev`;
}
