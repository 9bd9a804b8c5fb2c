import { BareSandbox } from '../bare-sandbox.ts';
import type { Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';

/** P3 and P5: a command that changes nothing. */
export const measureRun: Scenario = async (bench) => {
  const { scale, findings, repositories, place } = bench;
  await using litterbox = bench.litterbox('small');
  await using sandbox = await litterbox.create({ name: 'run' });
  await using bare = await BareSandbox.start(repositories.small, place('bare'));
  const plan = { rounds: scale.rounds.fast, warmUps: 20 };
  const run = () => timed(() => sandbox.run(['true']));
  const { library, held } = await interleaved(plan, { library: run, held: () => timed(() => bare.run('/bin/true')) });
  findings.row({
    target: 'P3',
    what: 'run(true) through the library',
    measured: library,
    against: '/bin/true through a held shell',
    floor: held,
    limit: { of: 'ratio', atMost: 2.5 },
  });

  const { beside, itself } = await interleaved(plan, {
    async beside() {
      const startedMs = performance.now();
      const { durationMs } = await sandbox.run(['true']);
      return performance.now() - startedMs - durationMs;
    },
    itself: async () => (await sandbox.run(['true'])).durationMs,
  });
  findings.row({
    target: 'P5',
    what: 'a call that changed nothing, what it takes beside its command',
    measured: beside,
    against: 'the command, through the channel',
    floor: itself,
    limit: { of: 'value', atMost: 1 },
  });

  // The same block of calls in turn, without and with memory that has been touched; the last block holds it still.
  const lean: number[] = [];
  const heavy: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    let ballast: Buffer | undefined;
    for (const series of [lean, heavy]) {
      if (series === heavy) ballast = Buffer.alloc(scale.residentBytes, 1);
      series.push(...(await interleaved({ rounds: Math.ceil(plan.rounds / 3), warmUps: 5 }, { run })).run);
    }
    if (ballast?.at(-1) !== 1) throw new Error('The ballast is gone.');
  }
  findings.row({
    target: 'P3',
    what: `run(true) with ${scale.residentBytes / 2 ** 30} GiB resident`,
    measured: heavy,
    against: 'the same without',
    floor: lean,
    limit: { of: 'ratio', atMost: 1.5 },
  });
  await litterbox.delete('run', { force: true });
};
