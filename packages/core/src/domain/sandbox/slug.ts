import { LitterboxError } from '../errors/errors.ts';
import { shown } from '../text/shown.ts';

declare const brand: unique symbol;

/** The name of a sandbox for people: 1 to 40 characters of `[a-z0-9-]`, starting and ending with a letter or digit. */
export type Slug = string & { readonly [brand]: 'Slug' };

/** Longest slug, in characters (security.md 4.2). Leaves room for prefixes within a DNS label of 63. */
export const MAX_SLUG_CHARACTERS = 40;

/** Names that mean something else to git, to file systems that people check out on, or to our own options. */
const RESERVED = new Set(['head', 'con', 'nul', 'aux', 'prn', 'all', 'all-envs', 'all-repos']);

/** A slug, and whether a name lost something on the way to it. */
export interface SlugResult {
  readonly slug: Slug;
  /** True when the slug lost letters outside ASCII or their marks, so that a person should be told (`NAME_CHANGED`). */
  readonly lossy: boolean;
}

/**
 * The slug of a name: NFKC, lower case, letters without their marks, every run of other characters becomes one dash, dashes trimmed at the ends.
 *
 * @throws LitterboxError `NAME_NUL`, `NAME_INVALID` (nothing left, or too long), `NAME_RESERVED`.
 */
export function slugify(name: string): SlugResult {
  const refuse = (code: 'NAME_NUL' | 'NAME_INVALID' | 'NAME_RESERVED', reason: string, hint: string) =>
    new LitterboxError(code, `Name ${shown(name)} ${reason}.`, { operation: 'sandbox.name', hint });
  if (name.includes('\0')) throw refuse('NAME_NUL', 'holds a NUL character', 'Remove it.');
  const folded = name.normalize('NFKC').toLowerCase();
  const plain = folded.normalize('NFKD').replace(/\p{Mark}/gu, '');
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  if (slug === '') {
    throw refuse(
      'NAME_INVALID',
      'has no letter a-z or digit',
      'Use letters a-z, digits and dashes, such as fix-login.',
    );
  }
  if (slug.length > MAX_SLUG_CHARACTERS) {
    const got = `is ${slug.length} characters long as a slug, at most ${MAX_SLUG_CHARACTERS} are allowed`;
    throw refuse('NAME_INVALID', got, 'Choose a shorter name.');
  }
  if (RESERVED.has(slug)) throw refuse('NAME_RESERVED', 'is reserved', 'Choose another name.');
  return { slug: slug as Slug, lossy: /[^\u0000-\u007f]/.test(folded) };
}
