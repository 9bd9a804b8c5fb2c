import { rmSync } from 'node:fs';
import type { Litterbox } from 'litterbox';
import { BareSandbox } from '../bare-sandbox.ts';
import { againstGit, type Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';
import { git } from '../processes.ts';

/** P1 and P2: from nothing to the first command's result, the base tree being known. */
export const measureCreate: Scenario = async (bench) => {
  const { scale, findings, repositories, place } = bench;
  const { small, middle, large } = scale.sizes;
  await using one = bench.litterbox('small');
  await using two = bench.litterbox('middle');
  await using three = bench.litterbox('large');
  const created = (litterbox: Litterbox) => async (round: number) => {
    const startedMs = performance.now();
    const sandbox = await litterbox.create({ name: `create-${round}` });
    await sandbox.run(['true']);
    const took = performance.now() - startedMs;
    await litterbox.delete(sandbox.name, { force: true });
    return took;
  };
  const samples = await interleaved(
    { rounds: scale.rounds.common, warmUps: 1 },
    {
      bare: async () => {
        const startedMs = performance.now();
        await using sandbox = await BareSandbox.start(repositories.large, place('bare'));
        await sandbox.run('/bin/true');
        return performance.now() - startedMs;
      },
      large: created(three),
      small: created(one),
      middle: created(two),
    },
  );
  const worktrees = await interleaved(
    { rounds: scale.rounds.slow, warmUps: 0 },
    {
      worktree: async () => {
        const directory = place('tmp');
        const took = await timed(() => git(repositories.large, 'worktree', 'add', '-q', '--detach', directory));
        rmSync(directory, { recursive: true });
        await git(repositories.large, 'worktree', 'prune');
        return took;
      },
    },
  );
  findings.floor(`git worktree add, ${large.name}`, worktrees.worktree);
  findings.row({
    target: 'P1',
    what: `create to first command, ${large.name}`,
    measured: samples.large,
    against: 'overlay mount + bwrap start + one command',
    floor: samples.bare,
    limit: { of: 'ratio', atMost: 2.5 },
  });
  findings.row({
    target: 'P1',
    what: `create to first command, ${large.name}, against what others do`,
    measured: samples.large,
    against: `git worktree add, ${large.name}`,
    floor: worktrees.worktree,
    ...againstGit(scale, 1 / 20),
  });
  for (const { name, series } of [
    { name: large.name, series: samples.large },
    { name: middle.name, series: samples.middle },
  ])
    findings.row({
      target: 'P2',
      what: `create to first command, ${name}`,
      measured: series,
      against: `the same, ${small.name}`,
      floor: samples.small,
      limit: { of: 'ratio', atMost: 1.3 },
    });
};
