import { expect, test } from '@jest/globals';
import { judgeScore } from './judge-score.ts';
import { rankRacers } from './rank-racers.ts';

const racer = (number: number, isPassed: boolean, changedLines: number, score?: number) => ({
  number,
  isPassed,
  changedLines,
  score,
});

test('racers are ordered by the verdict, the score, the changed lines and their number', () => {
  const racers = [
    racer(1, false, 1, 100),
    racer(2, true, 5),
    racer(3, true, 9, 2),
    racer(4, true, 8, 2),
    racer(5, true, 99, 2.5),
    racer(6, true, 5),
    racer(7, false, 0),
  ];
  expect(rankRacers(racers).map(({ number }) => number)).toEqual([5, 4, 3, 2, 6, 1, 7]);
  expect(rankRacers([])).toEqual([]);
});

test.each([
  ['7\n', 7],
  ['tests passed\n 12.5 \n\n', 12.5],
  ['-3', -3],
  ['+0.25\n', 0.25],
  ['7\nok\n', undefined],
  ['', undefined],
  ['7 tests', undefined],
  ['1e9', undefined],
  ['Infinity', undefined],
  ['NaN', undefined],
])('the score in %j is %p', (output, score) => {
  expect(judgeScore(output)).toBe(score);
});
