import { docker } from '@litterbox/provider-docker';
import Client from 'dockerode';
import { createLitterbox } from 'litterbox';
import type { Scenario } from '../bench.ts';
import { startDocker } from '../docker-engine.ts';
import { interleaved, timed } from '../measure.ts';
import { findDocker } from '../peers/docker.ts';

const PARALLEL = 50;
const WORK = { run: 'true', write: 'echo hello >file', read: 'cat file' } as const;

/** P3, P6 and P11 on Docker, against the engine itself. */
export const measureEngines: Scenario = async (bench) => {
  const { scale, findings, repositories, ground, stateDirectory, place } = bench;
  const started = await startDocker(ground);
  if (typeof started === 'string') {
    findings.lacks('P3', 'run(true) on Docker', started);
    return;
  }
  await using engine = started;
  const { socket, image } = engine;
  const client = new Client({ socketPath: socket });
  await using litterbox = createLitterbox({
    repo: repositories.small,
    providers: [(machine) => docker({ ...machine, socket })],
    stateDirectory: stateDirectory('small'),
  });
  const sandbox = await litterbox.create({ name: 'docker' });

  const plain = await client.createContainer({
    Image: image,
    Cmd: ['sleep', '3600'],
    HostConfig: { NetworkMode: 'none' },
  });
  await plain.start();
  const exec = async () => {
    const one = await plain.exec({ Cmd: ['true'], AttachStdout: true, AttachStderr: true });
    const stream = await one.start({ hijack: true });
    stream.resume();
    await new Promise((resolve) => stream.once('end', resolve));
    await one.inspect();
  };
  const { library, itself } = await interleaved(
    { rounds: scale.rounds.common, warmUps: 5 },
    { library: () => timed(() => sandbox.run(['true'])), itself: () => timed(exec) },
  );
  findings.row({
    target: 'P3',
    what: 'run(true) on Docker, through the library',
    measured: library,
    against: "the engine's exec, by its API",
    floor: itself,
    limit: { of: 'ratio', atMost: 1 / 20 },
  });
  const many = (one: () => Promise<unknown>) => timed(() => Promise.all(Array.from({ length: PARALLEL }, one)));
  const { ours, theirs } = await interleaved(
    { rounds: scale.rounds.slow, warmUps: 1 },
    { ours: () => many(() => sandbox.run(['true'])), theirs: () => many(exec) },
  );
  findings.row({
    target: 'P3',
    what: `${PARALLEL} at once on Docker, through the library`,
    measured: ours,
    against: "the same by the engine's exec API",
    floor: theirs,
    limit: { of: 'ratio', atMost: 1 / 30 },
  });
  await plain.remove({ force: true });
  await litterbox.delete('docker', { force: true });

  const { create, raw } = await interleaved(
    { rounds: scale.rounds.common, warmUps: 1 },
    {
      async create(round) {
        const startedMs = performance.now();
        const one = await litterbox.create({ name: `create-${round}` });
        const took = performance.now() - startedMs;
        await litterbox.delete(one.name, { force: true });
        return took;
      },
      async raw() {
        const startedMs = performance.now();
        const one = await client.createContainer({
          Image: image,
          Cmd: ['sleep', '3600'],
          HostConfig: { NetworkMode: 'none' },
        });
        await one.start();
        const took = performance.now() - startedMs;
        await one.remove({ force: true });
        return took;
      },
    },
  );
  findings.row({
    target: 'P6',
    what: 'create on Docker, without a setup command',
    measured: create,
    against: 'create and start of a container, by the API',
    floor: raw,
    limit: { of: 'ratio', atMost: 1.2 },
  });

  process.env['DOCKER_HOST'] = `unix://${socket}`;
  try {
    const peer = await findDocker(place('tmp'), WORK);
    if (typeof peer === 'string') return findings.lacks('P11', 'the job on Docker', peer);
    const { job, command } = await interleaved(
      { rounds: scale.rounds.slow, warmUps: 1 },
      {
        async job(round) {
          const startedMs = performance.now();
          const one = await litterbox.create({ name: `job-${round}` });
          await one.run(['true']);
          await one.run(['true']);
          await one.files.write('file', 'hello\n');
          await one.files.read('file');
          await litterbox.delete(one.name, { force: true });
          return performance.now() - startedMs;
        },
        command: peer,
      },
    );
    findings.row({
      target: 'P11',
      what: 'create, run, run, write, read, destroy, on Docker',
      measured: job,
      against: 'the docker command',
      floor: command,
      limit: { of: 'ratio', atMost: 3 / 4 },
    });
  } finally {
    delete process.env['DOCKER_HOST'];
  }
};
