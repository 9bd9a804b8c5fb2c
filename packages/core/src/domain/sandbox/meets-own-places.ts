import { INSIDE } from './inside.ts';

const OWN = [INSIDE.home, INSIDE.playground, INSIDE.io];

/**
 * Whether a path is one of the sandbox's own places, lies in one, or holds one. The workspace is never put there: home and playground outlive a
 * session and are the agent's to change, so that a link in them would lead the next session to any place of the host.
 *
 * @param path absolute, in normal form
 */
export function meetsOwnPlaces(path: string): boolean {
  const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}/`);
  return OWN.some((place) => isWithin(path, place) || isWithin(place, path));
}
