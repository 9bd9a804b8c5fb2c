import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox, type LitterboxOptions } from 'litterbox';
import type { Bench, Scenario } from '../bench.ts';
import { startDocker } from '../docker-engine.ts';
import { interleaved } from '../measure.ts';
import { git } from '../processes.ts';
import { makeRepository } from '../repository.ts';

/** P6: a create that takes a sandbox made in advance, to its first command, on namespaces and on Docker. */
export const measurePool: Scenario = async (bench) => {
  await measureOn(bench, 'on namespaces', [overlayfs], 10);
  const started = await startDocker(bench.ground);
  if (typeof started === 'string') return bench.findings.lacks('P6', 'a create from the pool, on Docker', started);
  await using engine = started;
  await measureOn(bench, 'on Docker', [(machine) => docker({ ...machine, socket: engine.socket })], 30);
};

async function measureOn(
  { scale, findings, place }: Bench,
  where: string,
  providers: LitterboxOptions['providers'],
  atMost: number,
): Promise<void> {
  const [repo, stateDirectory] = [place('tmp'), place('tmp')];
  mkdirSync(dirname(repo), { recursive: true });
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
  await makeRepository(repo, scale.sizes.small);
  writeFileSync(join(repo, '.litterbox.toml'), 'pool = 1\n');
  await git(repo, 'add', '.litterbox.toml');
  await git(repo, 'commit', '-q', '-m', 'Prepare a sandbox');
  await using litterbox = createLitterbox({ repo, providers, stateDirectory });
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  const created = async (environment?: Readonly<Record<string, string>>) => {
    const startedMs = performance.now();
    const sandbox = await litterbox.create({ name: 'created', ...(environment && { environment }) });
    await sandbox.run(['true']);
    const took = performance.now() - startedMs;
    await litterbox.delete(sandbox.name, { force: true });
    return took;
  };
  const { taken, made } = await interleaved(
    { rounds: scale.rounds.common, warmUps: 1 },
    {
      taken: async () => {
        await litterbox.fillPool();
        return await created();
      },
      // Nobody made one in advance with that in its environment.
      made: async () => await created({ ASKED: 'otherwise' }),
    },
  );
  await litterbox.clearPool();
  findings.row({
    target: 'P6',
    what: `create from the pool to first command, ${where}`,
    measured: taken,
    against: 'the same, made when it is asked for',
    floor: made,
    limit: { of: 'value', atMost },
  });
}
