import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { KubeApi } from '../src/api/kube-api.ts';
import { podStateOf } from '../src/pod-meta.ts';
import { fakeCluster, kubeconfig, TOKEN } from './fake-cluster.ts';

async function failure(
  status: number,
  body: unknown,
): Promise<{ readonly error: LitterboxError; readonly seconds: number }> {
  await using fake = await fakeCluster({
    answer: (_request, response) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(typeof body === 'string' ? body : JSON.stringify(body)),
  });
  const begun = performance.now();
  const error: unknown = await fake.api.ask('provider.test', '/version').catch((one: unknown) => one);
  if (!(error instanceof LitterboxError)) throw new Error(`no failure: ${String(error)}`);
  return { error, seconds: (performance.now() - begun) / 1000 };
}

test.each([
  [401, { message: 'Unauthorized' }, 'PERMISSION_DENIED', /does not know who asks/],
  [
    403,
    { message: 'pods "a" is forbidden: User "x" cannot get resource "pods" in API group "" in the namespace "team"' },
    'PERMISSION_DENIED',
    /does not allow/,
  ],
  [
    403,
    { message: 'pods "a" is forbidden: exceeded quota: team, requested: pods=1' },
    'RESOURCE_EXHAUSTED',
    /quota of the namespace "?team"? is used up/,
  ],
  [
    403,
    {
      message: `persistentvolumeclaims "litterbox-${'0'.repeat(36)}" is forbidden: exceeded quota: team, requested: requests.storage=600Gi, used: requests.storage=1Gi, limited: requests.storage=500Gi`,
    },
    'RESOURCE_EXHAUSTED',
    /requested: requests\.storage=600Gi, used: requests\.storage=1Gi, limited: requests\.storage=500Gi\.$/,
  ],
  [
    403,
    {
      message: `pods "litterbox-${'0'.repeat(36)}" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 4Gi`,
    },
    'UNSUPPORTED',
    /A policy of the cluster .* maximum memory usage per Pod is 1Gi, but limit is 4Gi\.$/,
  ],
  [
    403,
    { message: 'pods "a" is forbidden: unable to create new content in namespace team because it is being terminated' },
    'UNAVAILABLE',
    /The namespace "?team"? is being deleted/,
  ],
  [404, { message: 'namespaces "team" not found' }, 'NOT_FOUND', /no such thing/],
  [422, { message: 'Pod "a" is invalid' }, 'UNSUPPORTED', /refuses what Litterbox asks for/],
  [429, { message: 'too many' }, 'UNAVAILABLE', /asked for too much/],
  [500, { message: 'etcd is gone' }, 'UNAVAILABLE', /fails \(500\)/],
  [503, 'not json', 'UNAVAILABLE', /fails \(503\)/],
  [200, 'not json', 'UNAVAILABLE', /no JSON/],
])(
  'FC-528: %i is told as what it is within ten seconds, with the words of the cluster',
  async (status, body, code, words) => {
    const { error, seconds } = await failure(status, body);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(words);
    expect(error.details.hint).toBeTruthy();
    expect(seconds).toBeLessThan(10);
  },
);

test('a server that says nothing is told as one', async () => {
  await using fake = await fakeCluster({ answer: () => {} });
  await expect(fake.api.ask('provider.test', '/version')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('no answer within 8 seconds'),
  });
}, 20_000);

test('what passes is asked again', async () => {
  let asked = 0;
  await using fake = await fakeCluster({
    answer: (_request, response) => {
      asked += 1;
      response.writeHead(asked < 3 ? 503 : 200).end('{"fine":true}');
    },
  });
  expect(await fake.api.ask('provider.test', '/version')).toEqual({ fine: true });
  expect(asked).toBe(3);
});

test('FC-489: who gives up waits until the server has made what it was asked to make: only then it can be undone', async () => {
  const seen: string[] = [];
  await using fake = await fakeCluster({
    answer(request, response) {
      response.on('close', () => seen.push(response.writableFinished ? 'made' : 'cut'));
      setTimeout(() => response.end('{}'), 200);
      if (request.method === 'POST') setImmediate(() => giveUp.abort(new Error('given up')));
    },
  });
  const giveUp = new AbortController();
  const asked = fake.api.ask('provider.test', '/x', { method: 'POST', body: {}, signal: giveUp.signal });
  await expect(asked).rejects.toThrow('given up');
  expect(seen).toEqual(['made']);
});

test('an answer without end is given up, and no failure shows the token', async () => {
  const { error } = await failure(200, 'x'.repeat(33 * 2 ** 20));
  expect(error.message).toMatch(/more than \d+ bytes/);
  expect(JSON.stringify(error)).not.toContain(TOKEN);
});

test.each([
  ['none', undefined, undefined, 'UNAVAILABLE', /no kubeconfig/],
  ['broken', `users: [{name: u, user: {token: ${TOKEN}`, undefined, 'CONFIG_SYNTAX', /is no kubeconfig/],
  [
    'another context',
    kubeconfig('http://127.0.0.1:1'),
    'production',
    'NOT_FOUND',
    /no context "?production"?; it has "?staging"?/,
  ],
  ['nothing there', kubeconfig('http://127.0.0.1:1'), 'staging', 'UNAVAILABLE', /cannot be reached at/],
])('a kubeconfig that is of no use is told: %s', async (_title, text, context, code, words) => {
  await using fake = await fakeCluster({});
  if (text !== undefined) await writeFile(fake.file, text);
  const KUBECONFIG = text === undefined ? `${fake.file}-none` : fake.file;
  const api = new KubeApi({ provider: 'kubernetes', environment: { KUBECONFIG }, homeDirectory: '/nowhere', context });
  const error: unknown = await api.ask('provider.test', '/version').catch((one: unknown) => one);
  api.close();
  expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
  expect(JSON.stringify(error) + String(error)).not.toContain(TOKEN);
});

const ID = '0d6d3e0e-3c5f-4b5e-9d3b-3f0f6a0d7a11';
test.each([
  ['nothing', undefined],
  ['a text', 'pod'],
  ['another name than its label says', { metadata: { name: 'litterbox-x', labels: { 'litterbox.dev/id': ID } } }],
  ['an id that is a path', { metadata: { name: 'litterbox-../..', labels: { 'litterbox.dev/id': '../..' } } }],
])('a pod of a hostile cluster is none of ours: %s', (_title, pod) => {
  expect(podStateOf(pod, 'kubernetes')).toBeUndefined();
});

test.each([
  ['no annotation', {}],
  ['no JSON', { 'litterbox.dev/sandbox': '{' }],
  [
    'another id',
    { 'litterbox.dev/sandbox': JSON.stringify({ version: 1, id: ID.replace('0d', '1d'), workdir: '/src' }) },
  ],
  [
    'a workdir that climbs',
    { 'litterbox.dev/sandbox': JSON.stringify({ version: 1, id: ID, workdir: '/src/../etc', user: 1, image: 'x' }) },
  ],
])('a pod whose description says something else has none: %s', (_title, annotations) => {
  const pod = {
    metadata: { name: `litterbox-${ID}`, labels: { 'litterbox.dev/id': ID }, annotations },
    spec: 7,
    status: [],
  };
  expect(podStateOf(pod, 'kubernetes')).toMatchObject({ id: ID, meta: undefined, made: undefined, isRunning: false });
});
