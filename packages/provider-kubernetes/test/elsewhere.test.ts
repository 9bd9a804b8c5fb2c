import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { localHost } from '@litterbox/host';
import { type RuntimeStatus, SandboxId, type SandboxProvider } from '@litterbox/core/provider';
import { podName } from '../src/pod-meta.ts';
import { SandboxPlaces } from '../src/api/sandbox-places.ts';
import { type FakeCluster, fakeCluster } from './fake-cluster.ts';
import { providerOf, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const id = SandboxId.make();

/** A cluster that has what it is given, by the ends of paths. */
const having =
  (things: Readonly<Record<string, object>>): NonNullable<FakeCluster['answer']> =>
  ({ url = '' }, response) => {
    const [path = ''] = url.split('?');
    const found = Object.entries(things).find(([end]) => path.endsWith(end))?.[1];
    const isList = /\/(pods|persistentvolumeclaims|networkpolicies)$/.test(path);
    response.writeHead(found || isList ? 200 : 404).end(JSON.stringify(found ?? { items: [] }));
  };

async function listed(provider: SandboxProvider): Promise<readonly RuntimeStatus[]> {
  const all: RuntimeStatus[] = [];
  for await (const one of provider.list()) all.push(one);
  return all;
}

/** Notes that the sandbox was made where the kubeconfig led then. */
async function noted(where: { readonly name: string; readonly namespace: string; readonly server: string }) {
  await rm(directory, { recursive: true, force: true });
  const places = new SandboxPlaces(
    'kubernetes',
    localHost(),
    `${directory}/kubernetes/local/places`,
    async () => where,
  );
  await places.note(id);
}

test('FC-527: after a change of the context a sandbox is not missing: it is not built again, and its pod is not left behind', async () => {
  await noted({ name: 'production', namespace: 'agents', server: 'https://192.0.2.1' });
  await using fake = await fakeCluster({ answer: having({}) });
  await using provider = await providerOf(directory, fake.file);
  expect(await listed(provider)).toEqual([{ id, state: 'unreachable' }]);
  const elsewhere = {
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      /is in the namespace "agents" of the context "production"; .* "team" .* "staging" now/,
    ),
    details: { hint: expect.stringContaining('kubectl config use-context "production"') },
  };
  await expect(provider.open(id)).rejects.toMatchObject(elsewhere);
  await expect(provider.remove(id)).rejects.toMatchObject(elsewhere);
  await expect(provider.create(specOf(id))).rejects.toMatchObject(elsewhere);
  expect(await listed(provider)).toEqual([{ id, state: 'unreachable' }]);
});

test.each([
  ['another address of the server', { name: 'staging', namespace: 'team', server: 'https://192.0.2.1' }],
  ['another name of the context', undefined],
])('%s alone is no other cluster: what is not there is missing', async (_title, place) => {
  await using fake = await fakeCluster({ answer: having({}) });
  const server = /server: '([^']*)'/.exec(await readFile(fake.file, 'utf8'))?.[1] ?? '';
  await noted(place ?? { name: 'of-old', namespace: 'team', server });
  await using provider = await providerOf(directory, fake.file);
  expect(await listed(provider)).toEqual([]);
  await expect(provider.open(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await provider.remove(id);
});

test('a pod that is going is told as that, and not as a description that cannot be read', async () => {
  const pod = {
    metadata: { name: podName(id), labels: { 'litterbox.dev/id': id }, deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  await using fake = await fakeCluster({ answer: having({ [podName(id)]: pod }) });
  await using provider = await providerOf(directory, fake.file);
  await expect(provider.open(id)).rejects.toMatchObject({
    code: 'SANDBOX_BROKEN',
    message: expect.stringContaining('has ended'),
  });
});

test('a namespace that is not there is told by the check of the machine, whatever rights there are in it', async () => {
  await using fake = await fakeCluster({
    answer({ url = '' }, response) {
      const isPolicy = url.includes('networkpolicies?dryRun=All');
      response.writeHead(isPolicy ? 404 : 200);
      response.end(isPolicy ? '{"message":"namespaces \\"team\\" not found"}' : '{"status":{"allowed":true}}');
    },
  });
  await using provider = await providerOf(directory, fake.file);
  expect(await provider.probe()).toMatchObject({
    usable: false,
    checks: expect.arrayContaining([
      expect.objectContaining({ status: 'failed', finding: expect.stringContaining('namespaces "team" not found') }),
    ]),
  });
});
