import { expect, test } from '@jest/globals';
import { type ObjectId } from '@litterbox/core/provider';
import { type ObjectFormat, objectFormat } from './object-format.ts';
import { ObjectReader } from './object-reader.ts';
import type { GitRunner } from '../git/run-git.ts';

test('what is remembered keeps no memory but its own, and the oldest goes first', async () => {
  const started: string[] = [];
  const git = {
    start: async () => {
      started.push('cat-file');
      throw new Error('not here');
    },
  } as unknown as GitRunner;
  const reader = new ObjectReader(git, '/nowhere', objectFormat('sha1') as ObjectFormat);
  const id = (index: number) => index.toString(16).padStart(40, '0') as ObjectId;
  reader.remember(id(0), 'tree', Buffer.from('a piece of a larger buffer'));
  const found = await reader.read(id(0));
  expect(found?.bytes.toString()).toBe('a piece of a larger buffer');
  expect(found?.bytes.buffer.byteLength).toBe(found?.bytes.length);
  for (let index = 1; index <= 12; index++) reader.remember(id(index), 'tree', Buffer.alloc(500_000));
  expect((await reader.read(id(12)))?.bytes).toHaveLength(500_000);
  await expect(reader.read(id(0))).rejects.toThrow('not here');
  expect(started).toEqual(['cat-file']);
});
