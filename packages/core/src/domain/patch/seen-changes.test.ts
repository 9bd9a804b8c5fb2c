import { describe, expect, it } from '@jest/globals';
import { encodeRaw } from '../text/raw-text.ts';
import { SeenChanges } from './seen-changes.ts';

async function seen(...hunks: readonly (readonly string[])[]): Promise<readonly [number, string]> {
  const changes = new SeenChanges();
  for (const hunk of hunks) {
    for (const line of hunk) changes.add(encodeRaw(line));
    changes.end();
  }
  return [changes.count, await changes.digest()];
}

describe('the changes of a file', () => {
  it('are runs of lines, within a hunk and over several', async () => {
    const [count] = await seen([' a', '-b', '+c', ' d', '+e', '\\ No newline at end of file'], ['+f']);
    expect(count).toBe(3);
  });

  it('are the same wherever they stand, and whatever stands around them', async () => {
    const one = await seen([' a', '-b', '+c', ' d', '+e', ' f']);
    expect(await seen([' other', '-b', '+c', ' lines'], [' here', '+e'])).toEqual(one);
  });

  it('are others with another line, another order, another end of the file, and when two become one', async () => {
    const [, digest] = await seen(['-b', '+c', ' d', '+e']);
    for (const other of [
      ['-b', '+c', ' d', '+E'],
      ['+e', ' d', '-b', '+c'],
      ['-b', '+c', '+e'],
      ['-b', '+c', ' d', '+e', '\\ No newline at end of file'],
      ['-b', '+c', '', '+e ', '+'],
    ])
      expect((await seen(other))[1]).not.toBe(digest);
  });
});
