import { describe, expect, it } from '@jest/globals';
import { inParallel, interleaved } from './measure.ts';

describe('measuring', () => {
  it('takes the sides in turn and leaves the warm-up out', async () => {
    const order: string[] = [];
    const side = (name: string) => async (round: number) => {
      order.push(`${name}${round}`);
      return round;
    };
    const samples = await interleaved({ rounds: 2, warmUps: 1 }, { a: side('a'), b: side('b') });
    expect(order).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
    expect(samples).toEqual({ a: [1, 2], b: [1, 2] });
  });

  it('does every job once, never more at a time than allowed', async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await inParallel(10, 3, async (index) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running -= 1;
      done.push(index);
    });
    expect(most).toBe(3);
    expect(done.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
