import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename as repositoryName } from 'node:path';
import type { Sandbox } from 'litterbox';
import { BareSandbox } from '../bare-sandbox.ts';
import type { Bench, Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';
import { DIRECTORY_WIDTH } from '../repository.ts';

const FORKS = 5;
const CHANGED = 1000;

const RACERS = 4;

/** P7: forks of a running sandbox with changed files, one after the other, forks of forks, its snapshots, and a race. */
export const measureForks: Scenario = async (bench) => {
  const { scale, findings, repositories, place } = bench;
  const { large } = scale.sizes;
  await using litterbox = bench.litterbox('large');
  const source = await litterbox.create({ name: 'forked' });
  await source.run(changes());

  const samples = await interleaved(
    { rounds: scale.rounds.slow, warmUps: 1 },
    {
      forks: async () => {
        const names = Array.from({ length: FORKS }, (_, index) => `fork-${index}`);
        const took = await timed(async () => {
          for (const name of names) await source.fork({ name });
        });
        for (const name of names) await litterbox.delete(name, { force: true });
        return took;
      },
      bare: async () => {
        const bares: BareSandbox[] = [];
        const took = await timed(async () => {
          for (let index = 0; index < FORKS; index += 1)
            bares.push(await BareSandbox.start(repositories.large, place('bare')));
        });
        for (const bare of bares) await bare[Symbol.asyncDispose]();
        return took;
      },
    },
  );
  findings.row({
    target: 'P7',
    what: `${FORKS} forks of a running sandbox with ${CHANGED} changed files, ${large.name}`,
    measured: samples.forks,
    against: `${FORKS} × overlay mount + bwrap + held shell`,
    floor: samples.bare,
    limit: { of: 'ratio', atMost: 4 },
  });

  const took: number[] = [];
  let last: Pick<typeof source, 'name' | 'fork'> = source;
  for (let generation = 1; generation <= scale.generations; generation += 1) {
    const before = last;
    took.push(await timed(async () => (last = await before.fork({ name: `generation-${generation}` }))));
    if (before !== source) await litterbox.delete(before.name, { force: true });
  }
  findings.row({
    target: 'P7',
    what: `a fork of a fork, generation ${scale.generations - 2} to ${scale.generations}`,
    measured: took.slice(-3),
    against: 'generation 1 to 3',
    floor: took.slice(0, 3),
    limit: { of: 'ratio', atMost: 1.5 },
  });
  await litterbox.delete(last.name, { force: true });

  await measureSnapshots(bench, source);
  await measureRace(bench, source);
  await litterbox.delete(source.name, { force: true });
};

/** Against the copy that a person would make of what changed. */
async function measureSnapshots({ findings, scale, repositories, place }: Bench, source: Sandbox): Promise<void> {
  const changed = place('tmp');
  mkdirSync(changed, { recursive: true });
  execFileSync('sh', ['-c', changes()], { cwd: changed });
  const { take, back, copy } = await interleaved(
    { rounds: scale.rounds.slow, warmUps: 1 },
    {
      take: (round) => timed(() => source.snapshot({ label: `bench-${round}` })),
      back: (round) => timed(() => source.restoreSnapshot(`bench-${round}`)),
      copy: () => timed(() => execFileSync('cp', ['-a', changed, place('tmp')])),
    },
  );
  const against = `cp -a of the ${CHANGED} changed files`;
  const of = `of a running sandbox with ${CHANGED} changed files, ${repositoryName(repositories.large)}`;
  findings.row({ target: 'P7', what: `a snapshot ${of}`, measured: take, against, floor: copy });
  findings.row({ target: 'P7', what: `going back to a snapshot ${of}`, measured: back, against, floor: copy });
}

/** Against the forks alone: what a race adds is the work of the racers and of the judge. */
async function measureRace({ findings, scale, litterbox: open }: Bench, source: Sandbox): Promise<void> {
  await using litterbox = open('large');
  const remove = async (names: readonly string[]) => {
    for (const name of names) await litterbox.delete(name, { force: true });
  };
  const { race, forks } = await interleaved(
    { rounds: scale.rounds.slow, warmUps: 1 },
    {
      async race() {
        let names: readonly string[] = [];
        const took = await timed(async () => {
          const { racers } = await source.race({ command: ['true'], judge: 'true', count: RACERS, name: 'racer' });
          names = racers.map(({ record }) => record.slug);
        });
        await remove(names);
        return took;
      },
      async forks() {
        const names = Array.from({ length: RACERS }, (_, index) => `raced-${index}`);
        const took = await timed(async () => {
          for (const name of names) await (await source.fork({ name })).run(['true']);
        });
        await remove(names);
        return took;
      },
    },
  );
  findings.row({
    target: 'P7',
    what: `a race of ${RACERS}, judged`,
    measured: race,
    against: `${RACERS} forks with one command each, one after the other`,
    floor: forks,
    limit: { of: 'ratio', atMost: 1.5 },
  });
}

/** A command that writes files, as many to a directory as the repository has. */
function changes(): string {
  return `d=0; while [ $d -lt ${CHANGED / DIRECTORY_WIDTH} ]; do mkdir -p part1/dir$d; f=0
while [ $f -lt ${DIRECTORY_WIDTH} ]; do echo $d $f >part1/dir$d/file$f.txt; f=$((f+1)); done; d=$((d+1)); done`;
}
