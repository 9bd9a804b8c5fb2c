/** As one word of a shell's language, whatever is in it. */
export const shellWord = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
