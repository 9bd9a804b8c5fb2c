import { mountsOf } from '@litterbox/linux-sandbox';

/** Shell text: prints the overlays that are mounted on the machine, as {@link foreignOverlays} reads them. */
export const OVERLAYS_SCRIPT = `grep ' - overlay ' /proc/self/mountinfo; :`;

/**
 * Where overlays are mounted that a session has no use for: those of containers, most of all. A session's mount namespace begins with a
 * copy of every mount, and an overlay that is mounted anywhere holds what was deleted in its layers: a container that was stopped and
 * started again could not use the room that it freed, for as long as the session lives.
 *
 * @param mountinfo lines of `/proc/self/mountinfo`, see proc(5)
 * @param needed absolute paths that the session leads to; an overlay that holds one stays
 */
export function foreignOverlays(mountinfo: string, needed: readonly string[]): readonly string[] {
  const isNeeded = (point: string) =>
    point === '/' || needed.some((path) => path === point || path.startsWith(`${point}/`));
  return mountsOf(mountinfo).flatMap(({ point }) => (isNeeded(point) ? [] : [point]));
}
