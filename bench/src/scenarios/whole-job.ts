import { mkdirSync } from 'node:fs';
import { BareSandbox, bubblewrap, mountOverlay, unmountOverlay } from '../bare-sandbox.ts';
import type { Scenario } from '../bench.ts';
import { interleaved } from '../measure.ts';
import { findDocker } from '../peers/docker.ts';
import { findSandboxRuntime } from '../peers/sandbox-runtime.ts';
import { spawned } from '../processes.ts';

const WORK = { run: '/bin/true', write: 'echo hello >file', read: 'cat file' } as const;

/** One way of doing the whole job; the number is its time. */
export type Job = (round: number) => Promise<number>;

/** P11: create, run, run, write, read, destroy, with revisions where there are any. */
export const measureWholeJob: Scenario = async (bench) => {
  const { scale, findings, repositories, place } = bench;
  await using litterbox = bench.litterbox('small');
  const jobs: Record<string, Job> = {
    async litterbox(round) {
      const startedMs = performance.now();
      const sandbox = await litterbox.create({ name: `job-${round}` });
      await sandbox.run(['true']);
      await sandbox.run(['true']);
      await sandbox.files.write('file', 'hello\n');
      await sandbox.files.read('file');
      await litterbox.delete(sandbox.name, { force: true });
      return performance.now() - startedMs;
    },
    async bare() {
      const startedMs = performance.now();
      const sandbox = await BareSandbox.start(repositories.small, place('bare'));
      for (const command of [WORK.run, WORK.run, WORK.write, WORK.read]) await sandbox.run(command);
      await sandbox[Symbol.asyncDispose]();
      return performance.now() - startedMs;
    },
    async 'bwrap for each command'() {
      const startedMs = performance.now();
      const directory = place('bare');
      await mountOverlay(repositories.small, directory);
      for (const command of [WORK.run, WORK.run, WORK.write, WORK.read]) {
        const [program = '', ...args] = bubblewrap(`${directory}/merged`, 'sh', '-c', command);
        await spawned(program, ...args);
      }
      await unmountOverlay(directory);
      return performance.now() - startedMs;
    },
  };
  const limits: Record<string, number | undefined> = {};
  const missing: (readonly [peer: string, reason: string])[] = [];
  const workspace = place('tmp');
  mkdirSync(workspace);
  for (const [peer, find, atMost] of [
    ['the docker command', findDocker, undefined],
    ['@anthropic-ai/sandbox-runtime, as a library', findSandboxRuntime, 1 / 3],
  ] as const) {
    const found = await find(workspace, WORK);
    if (typeof found === 'string') missing.push([peer, found]);
    else {
      jobs[peer] = found;
      limits[peer] = atMost;
    }
  }
  const samples = await interleaved({ rounds: scale.rounds.common, warmUps: 1 }, jobs);
  const what = 'create, run, run, write, read, destroy';
  const { litterbox: measured = [], bare = [], ...peers } = samples;
  findings.row({
    target: 'P11',
    what,
    measured,
    against: 'overlay mount + bwrap + held shell',
    floor: bare,
    limit: { of: 'ratio', atMost: 2.5 },
  });
  for (const [peer, floor] of Object.entries(peers)) {
    const atMost = limits[peer];
    findings.row({
      target: 'P11',
      what: `${what}, against ${peer}`,
      measured,
      against: peer,
      floor,
      ...(atMost !== undefined && { limit: { of: 'ratio', atMost } }),
    });
  }
  for (const [peer, reason] of missing) findings.lacks('P11', `${what}, against ${peer}`, reason);
};
