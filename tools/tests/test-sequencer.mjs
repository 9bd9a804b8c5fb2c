import Sequencer from '@jest/test-sequencer';

const isLast = ({ path }) => /\/broken-[^/]*$/.test(path);

/** Broken implementations last: they make the process large, and a large process starts programs slowly. */
export default class LargeLast extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter((test) => !isLast(test)), ...sorted.filter(isLast)];
  }
}
