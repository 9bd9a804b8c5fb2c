import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BareSandbox } from '../bare-sandbox.ts';
import type { Scenario } from '../bench.ts';
import { inBench } from '../ground.ts';
import { inParallel, interleaved, timed } from '../measure.ts';
import { output, spawned } from '../processes.ts';

const WIDTH = 8;
const SETTLE_MS = 2000;

/** P8: many sandboxes, some at a time, and what they hold while nothing runs. P9: a list of them by a program that starts. */
export const measureManySandboxes: Scenario = async (bench) => {
  const { scale, findings, repositories, place } = bench;
  const { sandboxes: count, listed } = scale;
  const bares: BareSandbox[] = [];
  const beforeBare = othersMebibytes();
  const bareMs = await timed(() =>
    inParallel(count, WIDTH, async () => {
      const bare = await BareSandbox.start(repositories.small, place('bare'));
      bares.push(bare);
      await bare.run('/bin/true');
    }),
  );
  await sleep(SETTLE_MS);
  const bareMebibytes = (othersMebibytes() - beforeBare) / count;
  for (const bare of bares) await bare[Symbol.asyncDispose]();

  await using litterbox = bench.litterbox('small');
  await litterbox.list();
  const before = othersMebibytes();
  const createMs = await timed(() =>
    inParallel(count, WIDTH, async (index) => {
      const sandbox = await litterbox.create({ name: `many-${index}` });
      await sandbox.run(['true']);
    }),
  );
  await sleep(SETTLE_MS);
  const mebibytes = (othersMebibytes() - before) / count;
  findings.row({
    target: 'P8',
    what: `${count} sandboxes to their first command, ${WIDTH} at a time`,
    measured: [createMs],
    against: 'the same with overlay mount + bwrap + held shell',
    floor: [bareMs],
    limit: { of: 'ratio', atMost: 3 },
  });
  findings.row({
    target: 'P8',
    what: 'memory of an idle sandbox (proportional set size)',
    unit: 'MiB',
    measured: [mebibytes],
    against: 'bwrap + held shell',
    floor: [bareMebibytes],
    limit: { of: 'value', atMost: 1.25 },
  });

  await inParallel(count - listed, WIDTH, async (index) => {
    await litterbox.delete(`many-${index}`, { force: true });
  });
  process.env['LITTERBOX_HOME'] = bench.stateDirectory('small');
  const program = inBench('../packages/cli/bin/litterbox.cjs');
  const list = [program, '-C', repositories.small, 'list'] as const;
  const shown = output(process.execPath, ...list).split('\n').length;
  if (shown !== listed) throw new Error(`litterbox list shows ${shown} sandboxes of ${listed}.`);
  const samples = await interleaved(
    { rounds: scale.rounds.common, warmUps: 2 },
    {
      list: () => timed(() => spawned(process.execPath, ...list)),
      node: () => timed(() => spawned(process.execPath, '-e', '0')),
    },
  );
  findings.row({
    target: 'P9',
    what: `litterbox list of ${listed} sandboxes`,
    measured: samples.list,
    against: 'node -e 0',
    floor: samples.node,
    limit: { of: 'ratio', atMost: 1.6 },
  });
  await inParallel(listed, WIDTH, async (index) => {
    await litterbox.delete(`many-${count - listed + index}`, { force: true });
  });
};

/** What all processes but this one hold, shared pages in proportion. The bench has a view of processes of its own. */
function othersMebibytes(): number {
  let kibibytes = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const [, size = '0'] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, 'utf8')) ?? [];
      kibibytes += Number(size);
    } catch {
      // It has ended meanwhile.
    }
  }
  return kibibytes / 1024;
}
