import { expect, test } from '@jest/globals';
import { TraceWork } from './trace-work.ts';

type Needs = ConstructorParameters<typeof TraceWork>[0];

test('AX222: a file in which every other line is of another call is traced in linear time', async () => {
  const changes = Array.from({ length: 120_000 }, (_, at) => ({
    firstLine: at + 1,
    lines: ['x'],
    made: { number: at % 2, actor: 'mcp' },
  }));
  const needs = {
    lookAtSandbox: { look: async () => ({ record: { id: 'a', slug: 'a' }, tip: { commit: 'c' } }) },
    openRepository: {
      open: async () => ({ changes: async () => [{ path: 'a.txt', status: 'added', binary: false }] }),
    },
    blameFile: { blame: async () => ({ changes }) },
  } as unknown as Needs;
  const before = process.cpuUsage();
  const { files } = await new TraceWork(needs).trace('a');
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(6);
  expect(files[0]?.calls.map(({ ranges }) => ranges.length)).toEqual([60_000, 60_000]);
});
