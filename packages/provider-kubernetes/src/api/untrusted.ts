/** Parts of an answer that nobody vouches for: each reads as empty where it is something else. */
type Json = Readonly<Record<string, unknown>>;
export const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
