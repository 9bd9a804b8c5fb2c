import { expect, test } from '@jest/globals';
import { progressReader } from './progress-reader.ts';
import { withoutProgress } from './without-progress.ts';

const SAID = [
  "Cloning into bare repository '/secret'...\n",
  'remote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\n',
  'Receiving objects:  12% (1/8)\rReceiving objects:  50% (4/8)\rReceiving objects:  62% (5/8)\r',
  'Receiving objects: 100% (8/8)\rReceiving objects: 100% (8/8), done.\n',
  'remote: Receiving objects:  900% (9/2)\n',
  'Resolving deltas: 100% (1/1), done.\n',
  'fatal: early EOF\nerror: index-pack died\n',
].join('');

test('a clone tells what git counts here, and nothing that the server says', () => {
  for (const size of [1, 7, SAID.length]) {
    const told: unknown[] = [];
    const read = progressReader(({ message, done, total }) => told.push(`${message} ${done}/${total}`));
    for (let at = 0; at < SAID.length; at += size) read(Buffer.from(SAID.slice(at, at + size)));
    expect(told).toEqual([
      'Receiving objects: 50 % 4/8',
      'Receiving objects: 100 % 8/8',
      'Resolving deltas: 100 % 1/1',
    ]);
  }
});

test('why a clone failed is told without its progress and without a path of this machine', () => {
  expect(withoutProgress(SAID)).toBe(
    'remote: Receiving objects:  900% (9/2)\nfatal: early EOF\nerror: index-pack died',
  );
});
