import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Scenario } from '../bench.ts';
import { inBench } from '../ground.ts';
import type { MemoryJob, MemoryReport } from '../memory-child.ts';

/** P10: a program that uses the library for long. */
export const measureMemory: Scenario = async ({ scale, findings, repositories, stateDirectory }) => {
  const { early, late } = scale.calls;
  const job: MemoryJob = { repo: repositories.small, stateDirectory: stateDirectory('small'), early, late };
  const child = fork(inBench('src/memory-child.ts'), [JSON.stringify(job)], {
    execArgv: ['--no-warnings', '--expose-gc'],
  });
  const exited = once(child, 'exit');
  const reports: MemoryReport[] = [];
  child.on('message', (report: MemoryReport) => reports.push(report));
  await exited;
  const [first, last] = reports;
  if (!first || !last) throw new Error('The program that measures its memory died.');
  for (const [kind, what] of [
    ['residentMebibytes', 'resident memory'],
    ['heapMebibytes', 'live objects'],
  ] as const)
    findings.row({
      target: 'P10',
      what: `${what} of the program after ${late} calls`,
      unit: 'MiB',
      measured: [last[kind]],
      against: `the same after ${early}`,
      floor: [first[kind]],
      limit: { of: 'ratio', atMost: 1.2 },
    });
};
