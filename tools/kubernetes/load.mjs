// Makes sandboxes as fast as a cluster gives them: cluster.sh with -- node --no-warnings --conditions=@litterbox/source tools/kubernetes/load.mjs
// [COUNT] [AT ONCE]. Prints pods a minute, and claims a second from a pool whose pods run already.
import { setTimeout as delay } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxId } from '@litterbox/core/provider';
import { fixtureWorkspace } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { kubernetes } from '../../packages/provider-kubernetes/src/index.ts';
import { KubeApi } from '../../packages/provider-kubernetes/src/api/kube-api.ts';
import { POOL } from '../../packages/provider-kubernetes/test/pool-sample.ts';

const count = Number(process.argv[2] ?? 10);
const atOnce = Number(process.argv[3] ?? 5);
const directory = await mkdtemp(join(tmpdir(), 'litterbox-load-'));
const host = localHost();
const provider = kubernetes({ host, facts: await host.facts(), directory });
const api = new KubeApi({ provider: 'kubernetes', environment: process.env, homeDirectory: '/nowhere' });
const EXTENSIONS = 'apis/extensions.agents.x-k8s.io/v1beta1';

const specOf = (id, strategy) => ({
  id,
  slug: 'load',
  repositoryId: '00000000-0000-4000-8000-000000000000',
  workspace: fixtureWorkspace('f1f1f1f1', [{ path: 'README', content: 'read me\n' }]),
  workdir: '/src',
  root: { type: 'image', reference: 'busybox:latest' },
  environment: {},
  limits: {},
  network: 'none',
  playground: id,
  // Pods of a pool share a user where the cluster has no user namespaces, as that of the tests.
  allowDegraded: strategy !== undefined,
  ...(strategy && { strategy }),
});

/** Makes them all, so many at once, and deletes them; tells how long each took to be made, and all together. */
async function made(strategy) {
  const milliseconds = [];
  const ids = Array.from({ length: count }, () => SandboxId.make());
  const waiting = [...ids];
  const begun = performance.now();
  const work = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop()) {
      const from = performance.now();
      await (await provider.create(specOf(id, strategy)))[Symbol.asyncDispose]();
      milliseconds.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const seconds = (performance.now() - begun) / 1000;
  for (const id of ids) await provider.remove(id);
  return { milliseconds: milliseconds.sort((one, other) => one - other), seconds };
}

const tell = (title, { milliseconds, seconds }) =>
  console.log(
    `${title}: ${count} in ${seconds.toFixed(1)} s, ${atOnce} at once: ${((count / seconds) * 60).toFixed(0)} a minute,`,
    `${(count / seconds).toFixed(2)} a second; each ${(milliseconds[Math.floor(count / 2)] / 1000).toFixed(2)} s in the middle,`,
    `${(milliseconds.at(-1) / 1000).toFixed(2)} s at most`,
  );

const pathOf = (kind) =>
  kind === 'NetworkPolicy'
    ? api.pathOf('networkpolicies', 'apis/networking.k8s.io/v1')
    : api.pathOf(`${kind.toLowerCase()}s`, EXTENSIONS);
const pool = structuredClone(POOL);
pool.find(({ kind }) => kind === 'SandboxWarmPool').spec.replicas = count;
try {
  tell('pods', await made());
  for (const body of pool) await api.ask('load', await pathOf(body.kind), { method: 'POST', body });
  const ready = async () => {
    const { items } = await api.ask('load', await api.pathOf('sandboxes', 'apis/agents.x-k8s.io/v1beta1'));
    return items.filter(({ status }) => status?.conditions?.[0]?.status === 'True').length;
  };
  while ((await ready()) < count) await delay(500);
  tell('claims', await made('warm-pool/litterbox'));
} finally {
  for (const { kind, metadata } of [...pool].reverse())
    await api.ask('load', `${await pathOf(kind)}/${metadata.name}`, { method: 'DELETE' }).catch(() => {});
  api.close();
  await provider[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
}
