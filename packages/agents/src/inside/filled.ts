/** The values that a table of an agent has words for. */
export interface Filling {
  readonly url: string;
  readonly placeholder: string;
  /** The state directory inside, absolute. */
  readonly state: string;
}

/** Puts the values into a text of a table. */
export function filled(text: string, { url, placeholder, state }: Filling): string {
  return text.replaceAll(
    /\{(url|placeholder|state)\}/g,
    (_all, word: keyof Filling) => ({ url, placeholder, state })[word],
  );
}
