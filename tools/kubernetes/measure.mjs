// Measures a sandbox in a pod beside a bare pod, in one run: cluster.sh with -- node --no-warnings --conditions=@litterbox/source tools/kubernetes/measure.mjs [ROUNDS]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecChannel, SandboxId } from '@litterbox/core/provider';
import { fixtureWorkspace } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { kubernetes } from '../../packages/provider-kubernetes/src/index.ts';
import { KubeApi } from '../../packages/provider-kubernetes/src/api/kube-api.ts';
import { podExecEngine } from '../../packages/provider-kubernetes/src/pod-exec.ts';

const rounds = Number(process.argv[2] ?? 5);
const IMAGE = 'busybox:latest';
const directory = await mkdtemp(join(tmpdir(), 'litterbox-measure-'));
const host = localHost();
const provider = kubernetes({ host, facts: await host.facts(), directory });
const api = new KubeApi({ provider: 'kubernetes', environment: process.env, homeDirectory: '/nowhere' });
const timed = async (work) => {
  const begun = performance.now();
  const result = await work();
  return { ms: performance.now() - begun, result };
};
const middle = (numbers) => [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)];

async function execTrue(name) {
  const exec = await podExecEngine(api, 'kubernetes', { pod: name }).start({
    script: () => 'exit 0',
    environment: [],
    hasTerminal: false,
    hasStdin: false,
  });
  for await (const _chunk of exec.output); // until it has ended
  exec.destroy();
}

/** A pod as `kubectl run` makes one, but by the restricted profile, until the cluster calls it ready, and one program in it. */
async function bare(name) {
  const pods = await api.pathOf('pods');
  const { metadata } = await api.ask('measure', pods, {
    method: 'POST',
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          { name: 'sandbox', image: IMAGE, imagePullPolicy: 'IfNotPresent', command: ['sleep', '2147483647'] },
        ],
      },
    },
  });
  const path = `${pods}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${metadata.resourceVersion}`;
  for await (const { object } of api.watch('measure', path, 60_000))
    if (object.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) break;
  await execTrue(name);
}

const figures = { bare: [], create: [], first: [], run: [], exec: [] };
try {
  await api.ask('measure', '/version');
  for (let round = 0; round < rounds; round += 1) {
    const name = `bare-${crypto.randomUUID()}`;
    figures.bare.push((await timed(() => bare(name))).ms);
    for (let count = 0; count < 5; count += 1) figures.exec.push((await timed(() => execTrue(name))).ms);
    await api.ask('measure', await api.pathOf(`pods/${name}`), { method: 'DELETE' });
    const id = SandboxId.make();
    const made = await timed(() =>
      provider.create({
        id,
        slug: 'measure',
        repositoryId: '00000000-0000-4000-8000-000000000000',
        workspace: fixtureWorkspace('f1f1f1f1', [{ path: 'README', content: 'read me\n' }]),
        workdir: '/src',
        root: { type: 'image', reference: IMAGE },
        environment: {},
        limits: {},
        network: 'none',
        playground: id,
        allowDegraded: false,
      }),
    );
    const channel = new ExecChannel({ spawn: (spec, call) => made.result.spawn(spec, call) });
    const first = await timed(() => channel.run({ argv: ['true'] }));
    figures.create.push(made.ms);
    figures.first.push(made.ms + first.ms);
    for (let count = 0; count < 20; count += 1)
      figures.run.push((await timed(() => channel.run({ argv: ['true'] }))).ms);
    await channel[Symbol.asyncDispose]();
    await made.result[Symbol.asyncDispose]();
    await provider.remove(id);
  }
} finally {
  api.close();
  await provider[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
}
const rounded = (numbers) => numbers.map((number) => Math.round(number * 10) / 10);
for (const [name, numbers] of Object.entries(figures))
  console.log(
    name.padEnd(7),
    String(rounded([middle(numbers)])).padStart(8),
    'ms in the middle of',
    rounded(numbers)
      .sort((one, other) => one - other)
      .join(' '),
  );
console.log(
  `create and first command: ${(middle(figures.first) / middle(figures.bare)).toFixed(2)} of a bare pod and one exec`,
);
console.log(`run(true): 1/${Math.round(middle(figures.exec) / middle(figures.run))} of an exec`);
