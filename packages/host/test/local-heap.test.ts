import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { localHeap } from '../src/local-heap.ts';

// In a program of its own: how large V8's young generation is now depends on all that ran before.
const PROGRAM = `
import { getHeapSpaceStatistics } from 'node:v8';
import { localHeap } from '@litterbox/host';
const youngMiB = () => {
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name === 'new_space' || name === 'new_large_object_space');
  return young.reduce((sum, { space_size: bytes }) => sum + bytes, 0) / 2 ** 20;
};
const work = async () => {
  let kept = [];
  let most = 0;
  for (let round = 0; round < 200; round += 1) {
    const batch = [];
    for (let at = 0; at < 20_000; at += 1) batch.push({ at, text: 'x' + at });
    kept = [...kept.slice(-9), batch];
    most = Math.max(most, youngMiB());
  }
  return most;
};
const heap = localHeap();
const first = await heap.lean(work);
const nested = await heap.lean(() => heap.lean(async () => 0).then(work));
const usual = await work();
console.log(JSON.stringify({ first, nested, usual }));
`;

async function measure(flags: readonly string[] = []) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--conditions=@litterbox/source', ...flags, '--input-type=module', '--eval', PROGRAM],
    { cwd: new URL('..', import.meta.url).pathname, env: { PATH: process.env['PATH'] } },
  );
  return JSON.parse(stdout) as Record<'first' | 'nested' | 'usual', number>;
}

it('keeps the young generation small for as long as the work takes, and lets it grow as usual afterwards', async () => {
  const { first, nested, usual } = await measure();
  expect(usual).toBeGreaterThan(2 * Math.max(first, nested));
});

it('leaves alone what the program was started with', async () => {
  const { first, usual } = await measure(['--semi-space-growth-factor=2']);
  expect(first).toBeGreaterThan(usual / 2);
});

it('returns what the work returns, throws what it throws, and ends the phase either way', async () => {
  const heap = localHeap([]);
  await expect(heap.lean(async () => 7)).resolves.toBe(7);
  await expect(
    heap.lean(() => {
      throw new Error('of the work');
    }),
  ).rejects.toThrow('of the work');
});
