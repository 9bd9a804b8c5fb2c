import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import { SandboxId, type SandboxProvider } from '@litterbox/core/provider';
import type { KubeApi } from '../src/api/kube-api.ts';
import { object, text } from '../src/api/untrusted.ts';
import { podName } from '../src/pod-meta.ts';
import { absence } from './cluster.ts';
import { KINDS } from './kept.ts';
import { adminApi, providerOf, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);
const ROUNDS = 5;
/** More would not fit on a node with two processors. */
const AT_ONCE = 10;

async function* left(api: KubeApi) {
  for (const [kind, group] of KINDS)
    for await (const one of api.list('test', await api.pathOf(kind, group), 'litterbox.dev/id'))
      yield `${kind}/${text(object(object(one)['metadata'])['name'])}`;
}

/** Each ends in another way: at rest, with a program that runs, its pod killed, its making given up after a while. */
async function lived(provider: SandboxProvider, api: KubeApi, number: number): Promise<void> {
  const id = SandboxId.make();
  if (number % 5 === 4) {
    const signal = AbortSignal.timeout(150 * (1 + Math.floor(number / 5)));
    await expect(provider.create(specOf(id), { signal })).rejects.toThrow();
    return;
  }
  const strategy = number % 2 ? { strategy: 'agent-sandbox' } : {};
  const runtime = await provider.create(specOf(id, strategy));
  expect(await collected(await runtime.spawn({ argv: ['cat', 'README'] }))).toMatchObject({ stdout: 'read me\n' });
  if (number % 5 === 1) await runtime.spawn({ argv: ['sleep', '1000'] });
  if (number % 5 === 2) await api.ask('test', await api.pathOf(`pods/${podName(id)}`), { method: 'DELETE' });
  if (number % 5 !== 3) await runtime[Symbol.asyncDispose]();
  await provider.remove(id);
  await runtime[Symbol.asyncDispose]();
}

runner.describe('fifty sandboxes', () => {
  runner.it('that were made, used, killed and deleted leave nothing', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    for (let round = 0; round < ROUNDS; round += 1)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => lived(provider, api, round * AT_ONCE + at)));
    const names: string[] = [];
    for await (const name of left(api)) names.push(name);
    expect(names).toEqual([]);
    for await (const one of provider.list()) throw new Error(`${one.id} is ${one.state}`);
    expect((await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.json'))).toEqual([]);
    api.close();
  });
});
