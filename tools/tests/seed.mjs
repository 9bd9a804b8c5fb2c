/** The seed of every random choice in a test run, unless somebody names another one. The gate never draws one. */
export const FIXED_SEED = 20_261_126;

/** Seeds are whole numbers below this: fast-check takes 32 bits with a sign. */
const SEEDS = 2 ** 31;

/**
 * Reads `LITTERBOX_SEED`: a whole number, or `random` to draw one.
 *
 * @param {string | undefined} text
 * @param {number | 'random'} otherwise what holds when nothing is said
 * @returns {number}
 */
export function decideSeed(text, otherwise) {
  const wanted = text || String(otherwise);
  if (wanted === 'random') return Math.floor(Math.random() * SEEDS);
  const seed = Number(wanted);
  if (!Number.isInteger(seed) || seed < 0 || seed >= SEEDS)
    throw new Error(`LITTERBOX_SEED is '${text}'; it takes 'random' or a whole number below ${SEEDS}`);
  return seed;
}
