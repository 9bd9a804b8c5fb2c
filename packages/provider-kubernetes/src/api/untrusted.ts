import { visibleName } from '@litterbox/core/provider';

/** Parts of an answer that nobody vouches for: each reads as empty where it is something else. */
type Json = Readonly<Record<string, unknown>>;
export const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A scheduler says less of a few nodes, and so does a quota of all that it counts. */
const MAX_WORDS_CHARACTERS = 400;

/** A text of a cluster, as a message may repeat it: on one line, both ends where it is long, and without the full stop. */
export const words = (sentence: string): string =>
  visibleName(sentence.replace(/\s+/g, ' ').trim().replace(/\.$/, ''), MAX_WORDS_CHARACTERS);
