import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { SandboxId } from '@litterbox/core/provider';
import { podName } from '../src/pod-meta.ts';
import { Pods } from '../src/pods.ts';
import { fakeCluster } from './fake-cluster.ts';

const id = SandboxId.make();
const pod = (state: object, phase = 'Pending') => ({
  metadata: { name: podName(id), labels: { 'litterbox.dev/id': id }, resourceVersion: '7' },
  spec: { nodeName: 'node1' },
  status: { phase, containerStatuses: [{ name: 'sandbox', state }] },
});
const WAITING = pod({ waiting: { reason: 'ContainerCreating' } });
const RUNNING = pod({ running: {} }, 'Running');
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

/** Waits for a pod of a cluster that answers a watch like this; the pod runs from the second question on. */
async function waited(watch: (response: ServerResponse, count: number) => void) {
  const asked = { pods: 0, watches: 0 };
  await using fake = await fakeCluster({
    answer(request, response) {
      if (request.url?.includes('watch=1')) return watch(response, (asked.watches += 1));
      if (request.url?.includes('persistentvolumeclaims')) return void response.writeHead(404).end('{}');
      asked.pods += 1;
      response.end(JSON.stringify(asked.pods === 1 ? WAITING : RUNNING));
    },
  });
  const { isRunning, node } = await new Pods('kubernetes', fake.api).running(id, { name: podName(id) });
  expect({ isRunning, node }).toEqual({ isRunning: true, node: 'node1' });
  return asked;
}

test('what the cluster tells by itself is waited for, in whatever pieces it comes, and nothing is asked again', async () => {
  const text = line('MODIFIED', WAITING) + line('MODIFIED', RUNNING);
  const asked = await waited((response) => {
    response.write(text.slice(0, 25));
    setImmediate(() => response.write(text.slice(25)));
  });
  expect(asked).toEqual({ pods: 1, watches: 1 });
});

test.each([
  ['lets nobody watch', (response: ServerResponse) => response.writeHead(403).end('{"message":"forbidden"}')],
  ['forgot the version', (response: ServerResponse) => response.end(line('ERROR', { code: 410, reason: 'Expired' }))],
  ['says nothing', (response: ServerResponse) => response.end()],
  ['says what is no JSON', (response: ServerResponse) => response.end('hello\n')],
  ['tells of another pod', (response: ServerResponse) => response.end(line('MODIFIED', { metadata: { name: 'x' } }))],
  ['cuts the line', (response: ServerResponse) => response.destroy()],
  ['holds a half-open line', (response: ServerResponse) => response.writeHead(200).flushHeaders()],
])('a cluster that %s is asked again', async (_title, watch) => {
  expect((await waited(watch)).pods).toBe(2);
});

test('a pod that is deleted while somebody waits for it is told as gone', async () => {
  await using fake = await fakeCluster({
    answer: (request, response) =>
      void response.end(request.url?.includes('watch=1') ? line('DELETED', WAITING) : JSON.stringify(WAITING)),
  });
  await expect(new Pods('kubernetes', fake.api).running(id, { name: podName(id) })).rejects.toMatchObject({
    code: 'SANDBOX_BROKEN',
  });
});
