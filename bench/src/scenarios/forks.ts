import { BareSandbox } from '../bare-sandbox.ts';
import type { Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';
import { DIRECTORY_WIDTH } from '../repository.ts';

const FORKS = 5;
const CHANGED = 1000;

/** P7: forks of a running sandbox with changed files, one after the other; and forks of forks. */
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
    limit: { of: 'ratio', atMost: 1 },
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
  await litterbox.delete(source.name, { force: true });
};

/** A command that writes files, as many to a directory as the repository has. */
function changes(): string {
  return `d=0; while [ $d -lt ${CHANGED / DIRECTORY_WIDTH} ]; do mkdir -p part1/dir$d; f=0
while [ $f -lt ${DIRECTORY_WIDTH} ]; do echo $d $f >part1/dir$d/file$f.txt; f=$((f+1)); done; d=$((d+1)); done`;
}
