import { BareSandbox, bubblewrap, HeldShell, mountOverlay, unmountOverlay } from '../bare-sandbox.ts';
import type { Scenario } from '../bench.ts';
import { interleaved, timed } from '../measure.ts';
import { spawned } from '../processes.ts';

/** What nothing can be faster than. */
export const measureFloors: Scenario = async ({ scale, findings, repositories, place }) => {
  const mounted = (lower: string) => async () => {
    const directory = place('bare');
    const took = await timed(() => mountOverlay(lower, directory));
    await unmountOverlay(directory);
    return took;
  };
  const machine = await interleaved(
    { rounds: scale.rounds.common, warmUps: 2 },
    {
      'spawn of /bin/true': () => timed(() => spawned('/bin/true')),
      'node -e 0': () => timed(() => spawned(process.execPath, '-e', '0')),
      'overlay mount, R1': mounted(repositories.small),
      [`overlay mount, ${scale.sizes.large.name}`]: mounted(repositories.large),
      'bwrap --unshare-all to the first result': async () => {
        const startedMs = performance.now();
        await using _shell = await HeldShell.start(bubblewrap(repositories.small, 'sh'));
        return performance.now() - startedMs;
      },
    },
  );
  for (const [what, samples] of Object.entries(machine)) findings.floor(what, samples);

  await using sandbox = await BareSandbox.start(repositories.small, place('bare'));
  const channel = await interleaved(
    { rounds: scale.rounds.fast, warmUps: 20 },
    { held: () => timed(() => sandbox.run('/bin/true')) },
  );
  findings.floor('/bin/true through a held shell', channel.held);
};
