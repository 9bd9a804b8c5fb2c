const QUALITIES =
  'amber bold brave brisk calm clear clever cosy deep eager early fair fast fine fresh gentle glad keen kind lucky mild neat nimble plain proud quick quiet ready sharp shy smart soft solid steady sunny swift tidy warm wise witty'.split(
    ' ',
  );
const ANIMALS =
  'ant bear beaver bee bison cat crab crane crow deer dove duck eagle eel elk finch fox frog goat goose hare hawk heron horse lark lynx mole moose moth mouse otter owl panda quail raven robin seal swan toad wolf'.split(
    ' ',
  );

/**
 * A name for a sandbox that nobody gave one: `quiet-otter`.
 *
 * @param pick a whole number from 0 on, below the one that it is given
 */
export function madeUpName(pick: (count: number) => number): string {
  return [QUALITIES, ANIMALS].map((words) => words[pick(words.length)]).join('-');
}
