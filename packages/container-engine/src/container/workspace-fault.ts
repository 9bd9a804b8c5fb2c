import { visibleName } from '@litterbox/core/provider';
import { type Mount, mountsOf } from '@litterbox/linux-sandbox';

/**
 * Where the workspace is not what a program finds at its place: engines follow the links of an image when they mount something.
 *
 * @param mountinfo of a process of the container, see proc(5)
 * @param places absolute paths inside, at each of which the workspace was to be mounted
 * @param upper the directory that its overlay writes, as the engine was told. Of a kernel that does not tell it, what is mounted at a place
 * is taken for the workspace.
 * @returns the end of a sentence about the image; undefined where each place shows it
 */
export function workspaceFault(mountinfo: string, places: readonly string[], upper: string): string | undefined {
  const mounts = mountsOf(mountinfo);
  const told = mounts.filter((mount) => mount.upper === upper);
  for (const place of places) {
    const there = mounts.filter(({ point }) => point === place);
    const workspace = there.find((mount) => told.length === 0 || told.includes(mount));
    if (!workspace) {
      const point = told.find((mount) => !places.includes(mount.point))?.point;
      const target = point === undefined ? '' : `: the workspace would be at ${visibleName(point)}`;
      return `a symbolic link at ${visibleName(place)} or above it${target}`;
    }
    // Also one below it: Podman's next start mounts them in another order.
    const other = there.find((mount) => mount !== workspace) ?? mountOver(mounts, workspace);
    if (other) return `a symbolic link by which a ${other.type} is mounted over the workspace at ${visibleName(place)}`;
  }
  return undefined;
}

/** What hides a mount: it is mounted above its place, on something that the hidden one stands on. */
function mountOver(mounts: readonly Mount[], hidden: Mount): Mount | undefined {
  const byId = new Map(mounts.map((mount) => [mount.id, mount]));
  const chain = new Set<number>();
  for (let at: Mount | undefined = hidden; at && !chain.has(at.id); at = byId.get(at.parent)) chain.add(at.id);
  return mounts.find(
    ({ id, parent, point }) => !chain.has(id) && chain.has(parent) && hidden.point.startsWith(`${point}/`),
  );
}
