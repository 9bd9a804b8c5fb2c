/** Numbers that an answer names; a model needs a few. */
const MAX_NAMED = 10;

/**
 * Numbers in words: `line 3`, `lines 3, 7 and 9`, `lines 1, 2 and 40 more`.
 *
 * @param total how many there are, when not all of them are given
 */
export function numbersText(word: string, numbers: readonly number[], total = numbers.length): string {
  const named = numbers.slice(0, MAX_NAMED);
  if (total === 1) return `${word} ${named[0]}`;
  return total > named.length
    ? `${word}s ${named.join(', ')} and ${total - named.length} more`
    : `${word}s ${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}
