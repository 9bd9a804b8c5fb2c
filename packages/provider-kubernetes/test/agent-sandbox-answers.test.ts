import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { SandboxId } from '@litterbox/core/provider';
import { AgentSandboxes } from '../src/agent-sandbox/agent-sandboxes.ts';
import { othersPolicies } from '../src/others-policies.ts';
import { type PodMeta, podName, type PodState } from '../src/pod-meta.ts';
import { Pods } from '../src/pods.ts';
import { fakeCluster } from './fake-cluster.ts';

const id = SandboxId.make();
const other = SandboxId.make();
const owner = [{ kind: 'Sandbox', name: 'x', controller: true }];
const podOf = (name: string, of: string, ownerReferences: unknown = owner) => ({
  metadata: { name, labels: { 'litterbox.dev/id': of }, ownerReferences },
  status: { phase: 'Running', containerStatuses: [{ name: 'sandbox', state: { running: {} } }] },
});

const claimOf = (pod: string) => ({
  metadata: { name: podName(id), labels: { 'litterbox.dev/id': id } },
  status: { sandbox: { name: pod } },
});

/** A cluster in which a claim has the status, and those pods are there; other things are not. */
const withClaim = (pod: string, pods: readonly object[], asked: string[] = []) =>
  fakeCluster({
    answer({ url = '' }: IncomingMessage, response) {
      asked.push(url);
      const { pathname } = new URL(url, 'http://x');
      const last = pathname.slice(pathname.lastIndexOf('/') + 1);
      const claim = claimOf(pod);
      const isList = /\/(pods|sandboxclaims|sandboxes|persistentvolumeclaims)$/.exec(pathname)?.[1];
      const found =
        isList === undefined
          ? pathname.includes('sandboxclaims')
            ? claim
            : pods.find(
                (one) => pathname.includes('/pods/') && (one as ReturnType<typeof podOf>).metadata.name === last,
              )
          : { items: { pods, sandboxclaims: [claim] }[isList] ?? [] };
      response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? {}));
    },
  });

test('AX204: a pod that a claim names is that of its sandbox, or none', async () => {
  await using own = await withClaim('fast-1', [podOf('fast-1', id)]);
  expect(await new Pods('kubernetes', own.api).find(id)).toMatchObject({ id, name: 'fast-1', isRunning: true });
  await using foreign = await withClaim('fast-2', [podOf('fast-2', other)]);
  expect(await new Pods('kubernetes', foreign.api).find(id)).toBeUndefined();
  await using bare = await withClaim('fast-3', [podOf('fast-3', id, [])]);
  expect(await new Pods('kubernetes', bare.api).find(id)).toBeUndefined();
});

test('AX204: a pod of others that a claim names is not deleted with it', async () => {
  const deleted: string[] = [];
  const asked: string[] = [];
  await using fake = await fakeCluster({
    answer({ url = '', method = '' }: IncomingMessage, response) {
      if (method === 'DELETE') deleted.push(url.slice(url.lastIndexOf('/') + 1));
      asked.push(url);
      const found = url.includes('sandboxclaims/') && !deleted.includes(podName(id)) ? claimOf('web-1') : undefined;
      const other = url.endsWith('/pods/web-1') ? podOf('web-1', '') : undefined;
      response.writeHead((found ?? other) ? 200 : 404).end(JSON.stringify(found ?? other ?? {}));
    },
  });
  await new Pods('kubernetes', fake.api).remove(id);
  expect(asked.some((url) => url.endsWith('/pods/web-1'))).toBe(true);
  expect([...new Set(deleted)]).toEqual([podName(id)]);
});

test('AX204: a name that is a path is never asked for', async () => {
  const asked: string[] = [];
  await using fake = await withClaim('../../default/pods/x', [], asked);
  expect(await new Pods('kubernetes', fake.api).find(id)).toBeUndefined();
  expect(asked.filter((url) => url.includes('default'))).toEqual([]);
});

test('AX204: who writes our label on a pod has no sandbox; the claim whose pod is gone is broken', async () => {
  await using fake = await withClaim('fast-1', [podOf('fast-9', id), podOf('fast-8', other)]);
  const found: unknown[] = [];
  for await (const { name, isGone, ...state } of new Pods('kubernetes', fake.api).list())
    found.push([state.id, name, isGone]);
  expect(found).toEqual([[id, podName(id), true]]);
});

test('FC-481: a pool whose claim never calls itself ready gives its pod all the same', async () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'SandboxNotReady' }];
  const claim = { metadata: { name: podName(id) }, status: { conditions, sandbox: { name: 'fast-1' } } };
  await using fake = await fakeCluster({ answer: (_request, response) => void response.end(JSON.stringify(claim)) });
  const asked = new AgentSandboxes('kubernetes', fake.api).podOf({ id, maker: 'warm-pool/fast' } as unknown as PodMeta);
  expect(await asked).toBe('fast-1');
});

const meta = { id, repositoryId: other, maker: 'agent-sandbox' } as unknown as PodMeta;
test.each([
  [404, {}, 'UNSUPPORTED', /has no agent-sandbox/],
  [403, { message: 'sandboxes is forbidden' }, 'PERMISSION_DENIED', /does not allow/],
])('a cluster that answers %i for a Sandbox is told as what it is', async (status, body, code, words) => {
  await using fake = await fakeCluster({
    answer: (_request, response) => void response.writeHead(status).end(JSON.stringify(body)),
  });
  const made = new AgentSandboxes('kubernetes', fake.api).create(meta, { metadata: {}, spec: {} });
  await expect(made).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
});

const policy = (name: string, podSelector: object, rules: object) => ({
  metadata: { name },
  spec: { podSelector, ...rules },
});
const OPEN = { egress: [{}] };
test('AX202: policies of others that open something for a pod are found, however they select it', async () => {
  const In = (operator: string, key: string, values?: readonly string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  const items = [
    policy('all', {}, OPEN),
    policy('by-label', { matchLabels: { 'litterbox.dev/id': id } }, { ingress: [{}] }),
    policy('in', In('In', 'litterbox.dev/id', [id]), OPEN),
    policy('exists', In('Exists', 'litterbox.dev/id'), OPEN),
    policy('not-in', In('NotIn', 'tier', ['web']), OPEN),
    policy('shuts', {}, { egress: [] }),
    policy('others-label', { matchLabels: { tier: 'web' } }, OPEN),
    policy('others-in', In('In', 'tier', ['web']), OPEN),
    policy('absent', In('DoesNotExist', 'litterbox.dev/id'), OPEN),
  ];
  await using fake = await fakeCluster({
    answer: (_request, response) => void response.end(JSON.stringify({ items })),
  });
  const found = await othersPolicies(fake.api, { labels: { 'litterbox.dev/id': id } as object } as PodState);
  expect(found).toEqual(['all', 'by-label', 'in', 'exists', 'not-in']);
});
