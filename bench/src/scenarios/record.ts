import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sandbox } from 'litterbox';
import { againstGit, type Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';
import { git } from '../processes.ts';
import { DIRECTORY_WIDTH, pathOf } from '../repository.ts';

const SEVERAL = 1000;

/** P4: what a revision costs beside the command that changed the files. */
export const measureRecord: Scenario = async (bench) => {
  const { scale, findings, repositories, place } = bench;
  const { small, large } = scale.sizes;
  await using one = bench.litterbox('small');
  await using three = bench.litterbox('large');
  await using inSmall = await one.create({ name: 'record' });
  await using inLarge = await three.create({ name: 'record' });
  const worktree = place('tmp');
  await git(repositories.large, 'worktree', 'add', '-q', '--detach', worktree);
  const commit = (change: (round: number) => void) => async (round: number) => {
    change(round);
    return await timed(async () => {
      await git(worktree, 'add', '-A');
      await git(worktree, 'commit', '-q', '-m', 'change');
    });
  };
  const changeOne = (round: number) => `echo ${round} >${pathOf(0)}`;
  const changeSeveral = (round: number) => many(`part1`, SEVERAL, `several ${round}`);

  const single = await interleaved(
    { rounds: scale.rounds.common, warmUps: 2 },
    {
      large: recorded(inLarge, changeOne),
      small: recorded(inSmall, changeOne),
      git: commit((round) => writeFileSync(join(worktree, pathOf(0)), `${round}\n`)),
    },
  );
  findings.floor(`git add -A && git commit, 1 file, ${large.name}`, single.git);
  findings.row({
    target: 'P4',
    what: `revision of 1 file, ${large.name}`,
    measured: single.large,
    against: `the same, ${small.name}`,
    floor: single.small,
    limit: { of: 'ratio', atMost: 1.5 },
  });
  const against = `git add -A && git commit in a worktree, ${large.name}`;
  findings.row({
    target: 'P4',
    what: `revision of 1 file, ${large.name}, against git`,
    measured: single.large,
    against,
    floor: single.git,
    ...againstGit(scale, 1 / 30),
  });

  const several = await interleaved(
    { rounds: scale.rounds.slow, warmUps: 1 },
    {
      large: recorded(inLarge, changeSeveral),
      git: commit((round) => writeMany(worktree, 'part1', SEVERAL, `several ${round}\n`)),
    },
  );
  findings.row({
    target: 'P4',
    what: `revision of ${SEVERAL} files, ${large.name}`,
    measured: several.large,
    against,
    floor: several.git,
    ...againstGit(scale, 1 / 2),
  });

  await inLarge.run(many('heap', scale.manyFiles, 'heap'));
  const late = await interleaved({ rounds: scale.rounds.common, warmUps: 1 }, { large: recorded(inLarge, changeOne) });
  findings.row({
    target: 'P4',
    what: `revision of 1 file after ${scale.manyFiles} files have changed, ${large.name}`,
    measured: late.large,
    against: `${against}, without those`,
    floor: single.git,
    ...againstGit(scale, 1 / 30),
  });
  await three.setRunState('record', 'stopped');
  await three.setRunState('record', 'ready');
  const next = await interleaved(
    { rounds: scale.rounds.common, warmUps: 2 },
    { late: recorded(inLarge, changeOne), small: recorded(inSmall, changeOne) },
  );
  findings.row({
    target: 'P4',
    what: `revision of 1 file in the session after that, ${large.name}`,
    measured: next.late,
    against: `the same of a new sandbox, ${small.name}`,
    floor: next.small,
    limit: { of: 'ratio', atMost: 1.5 },
  });
  findings.row({
    target: 'P4',
    what: `revision of 1 file in the session after that, ${large.name}, against git`,
    measured: next.late,
    against: `${against}, without those`,
    floor: single.git,
    ...againstGit(scale, 1 / 30),
  });
  await one.delete('record', { force: true });
  await three.delete('record', { force: true });
  rmSync(worktree, { recursive: true });
  await git(repositories.large, 'worktree', 'prune');
};

function recorded(sandbox: Sandbox, change: (round: number) => string): (round: number) => Promise<number> {
  return async (round) => {
    const startedMs = performance.now();
    const { durationMs, recorded } = await sandbox.run(change(round));
    const took = performance.now() - startedMs - durationMs;
    if (!recorded.revision) throw new Error('Nothing was recorded.');
    return took;
  };
}

/** A command that writes files, as many to a directory as the repository has. */
function many(top: string, files: number, text: string): string {
  return `d=0; while [ $d -lt ${files / DIRECTORY_WIDTH} ]; do mkdir -p ${top}/dir$d; f=0
while [ $f -lt ${DIRECTORY_WIDTH} ]; do echo ${text} $f >${top}/dir$d/file$f.txt; f=$((f+1)); done; d=$((d+1)); done`;
}

function writeMany(directory: string, top: string, files: number, text: string): void {
  for (let index = 0; index < files; index += 1) {
    const path = join(directory, `${top}/dir${Math.floor(index / DIRECTORY_WIDTH)}/file${index % DIRECTORY_WIDTH}.txt`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
