import { expect, test } from '@jest/globals';
import { disposeAll } from './dispose-all.ts';

test('all are disposed of, the last first, also behind one that fails', async () => {
  const disposed: number[] = [];
  const part = (number: number, fails = false): AsyncDisposable => ({
    async [Symbol.asyncDispose]() {
      disposed.push(number);
      if (fails) throw new Error(`no ${number}`);
    },
  });
  const parts = [part(1), part(2, true), part(3)];
  await expect(disposeAll(parts)).rejects.toThrow('no 2');
  expect(disposed).toEqual([3, 2, 1]);
  await disposeAll(parts); // once
  expect(disposed).toHaveLength(3);
  await expect(disposeAll([part(1, true), part(2, true)])).rejects.toThrow(AggregateError);
});
