import type { SandboxRecord } from '@litterbox/core';
import { expect, test } from '@jest/globals';
import { reportForks } from './report-forks.ts';

type Made = (fork: Pick<SandboxRecord, 'slug'>) => void;
const slugs = (...names: string[]) => names.map((slug) => ({ slug }) as SandboxRecord);

async function told(work: (onFork: Made) => Promise<string>): Promise<readonly string[]> {
  const warnings: string[] = [];
  const outcome = reportForks({ warning: (text) => void warnings.push(text) }, work);
  return [await outcome.catch((error: Error) => error.message), ...warnings];
}

test('forks of what went well are told by its result alone', async () => {
  expect(
    await told(async (onFork) => {
      slugs('a-2', 'a-3').forEach(onFork);
      return 'done';
    }),
  ).toEqual(['done']);
});

test.each([
  [[], undefined],
  [['a-2'], 'litterbox delete a-2 --force'],
  [['a-2', 'a-3'], 'litterbox delete a-2 a-3 --force'],
] as const)('of what was taken back the forks %j are told with the line that removes them', async (names, line) => {
  const [reason, ...warnings] = await told(async (onFork) => {
    slugs(...names).forEach(onFork);
    throw new Error('ended by SIGINT');
  });
  expect(reason).toBe('ended by SIGINT');
  expect(warnings).toEqual(line === undefined ? [] : [expect.stringContaining(line)]);
});
