import { describe, expect, it } from '@jest/globals';
import { allowedProcessors, chooseProcessors, parseProcessors } from './processors.ts';

describe('parseProcessors', () => {
  it.each([
    ['0', [0]],
    ['0-3,6\n', [0, 1, 2, 3, 6]],
    ['5,1-2,2', [1, 2, 5]],
    ['', []],
    ['3-1', []],
    ['0-99999999999', []],
    ['all', []],
  ])('%s', (list, numbers) => {
    expect(parseProcessors(list)).toEqual(numbers);
  });

  it('finds the list in a status', () => {
    expect(allowedProcessors('Cpus_allowed:\tf\nCpus_allowed_list:\t0-1,3\nMems_allowed_list:\t0\n')).toEqual([
      0, 1, 3,
    ]);
    expect(allowedProcessors('Name:\tx\n')).toEqual([]);
  });
});

describe('chooseProcessors', () => {
  const four = [0, 1, 2, 3];

  it('gives whole ones, at least one and no more than there are', () => {
    expect([0.25, 1, 1.5, 4, 64].map((cpus) => chooseProcessors(four, cpus, []).length)).toEqual([1, 1, 2, 4, 4]);
  });

  it('spreads sandboxes over the machine', () => {
    const taken: (readonly number[])[] = [];
    for (let count = 0; count < 6; count++) taken.push(chooseProcessors(four, 2, taken));
    expect(taken).toEqual([
      [0, 1],
      [2, 3],
      [0, 1],
      [2, 3],
      [0, 1],
      [2, 3],
    ]);
    expect(chooseProcessors(four, 1, [[0, 1], [3]])).toEqual([2]);
  });

  it('knows nothing of processors that are not there', () => {
    expect(chooseProcessors([2, 5], 2, [[0, 1], [2]])).toEqual([2, 5]);
    expect(chooseProcessors([], 2, [])).toEqual([]);
  });
});
