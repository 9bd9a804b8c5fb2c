import { MAX_SLUG_CHARACTERS, type Slug, slugify } from '../../domain/sandbox/slug.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { assertRoom } from './assert-room.ts';
import { nameTaken } from './name-taken.ts';

/**
 * The name of a fork: the wanted one, or the source's with the first free number from 2 on.
 *
 * @throws LitterboxError `SANDBOX_EXISTS`, `SANDBOX_LIMIT`, and what `slugify` throws
 */
export function forkSlug(
  sandboxes: readonly SandboxRecord[],
  source: Pick<SandboxRecord, 'slug'>,
  wanted: string | undefined,
): Slug {
  assertRoom(sandboxes);
  const taken = new Map(sandboxes.map((one) => [one.slug, one]));
  if (wanted !== undefined) {
    const { slug } = slugify(wanted);
    const existing = taken.get(slug);
    if (existing) throw nameTaken(slug, wanted, existing);
    return slug;
  }
  for (let number = 2; ; number++) {
    const slug = withNumber(source.slug, number);
    if (!taken.has(slug)) return slug;
  }
}

/** A slug with a number at its end, shortened where it would be too long. */
export function withNumber(slug: Slug, number: number): Slug {
  const suffix = `-${number}`;
  return slugify(`${slug.slice(0, MAX_SLUG_CHARACTERS - suffix.length)}${suffix}`).slug;
}
