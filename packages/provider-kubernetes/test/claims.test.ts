import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, eventually, forBackend } from '@litterbox/conformance';
import { isLitterboxError, type SandboxId, SandboxId as Ids, type SandboxRuntime } from '@litterbox/core/provider';
import { podName } from '../src/pod-meta.ts';
import { absence } from './cluster.ts';
import { kept } from './kept.ts';
import { adminApi, providerOf, sandboxIn, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);

const limits = { diskBytes: 48 * 2 ** 20 };
const sh = async (runtime: SandboxRuntime, script: string) =>
  (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;
const WRITE = 'echo 1 >work; echo 2 >"$HOME/mine"; echo 3 >"$LITTERBOX_PLAYGROUND/play"';
const READ = 'cat README work "$HOME/mine" "$LITTERBOX_PLAYGROUND/play"';

runner.describe('a sandbox whose files are on a claim', () => {
  runner.it('stop gives back the pod, start brings it back with its files, and removal leaves nothing', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    let id: SandboxId;
    {
      await using sandbox = await sandboxIn(provider, { limits });
      ({ id } = sandbox);
      await sh(sandbox.runtime, WRITE);
      const { next } = await sandbox.runtime.scan(undefined);
      const { cpuMs: used = 0 } = await sandbox.runtime.usage();
      await sandbox.runtime.stop();
      const rested = await sandbox.runtime.usage();
      expect(rested).toEqual({ memoryBytes: 0, processes: 0, cpuMs: expect.any(Number) });
      expect(rested.cpuMs).toBeGreaterThanOrEqual(used);
      expect(await kept(api, id)).toEqual(['persistentvolumeclaims', 'networkpolicies']);
      const states: string[] = [];
      for await (const one of provider.list()) if (one.id === id) states.push(one.state);
      expect(states).toEqual(['stopped']);
      await using other = await (await providerOf(directory)).open(id);
      await expect(other.spawn({ argv: ['true'] })).rejects.toMatchObject({ code: 'SANDBOX_STOPPED' });
      await other.start();
      expect(await sh(other, READ)).toBe('read me\n1\n2\n3\n');
      expect((await other.usage()).cpuMs).toBeGreaterThan(rested.cpuMs ?? 0);
      await sh(other, 'echo 4 >later');
      const changed: string[] = [];
      for await (const { path, type } of (await other.scan(next)).changes) if (type === 'file') changed.push(path);
      expect(changed).toContain('later');
    }
    expect(await kept(api, id)).toEqual([]);
    const volumes = async () =>
      JSON.stringify(await api.ask('test', '/api/v1/persistentvolumes')).includes(podName(id));
    expect(await eventually(volumes, (is) => !is)).toBe(false);
    api.close();
  });

  runner.it('FC-338: a pod that was evicted is made anew by the next command, with its files', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider, { limits });
    await sh(sandbox.runtime, WRITE);
    const pod = await api.pathOf(`pods/${podName(sandbox.id)}`);
    await api.ask('test', `${pod}/eviction`, {
      method: 'POST',
      body: { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: podName(sandbox.id) } },
    });
    await eventually(
      () => kept(api, sandbox.id),
      (found) => !found.includes('pods'),
    );
    await using other = await (await providerOf(directory)).open(sandbox.id);
    expect(await sh(other, READ)).toBe('read me\n1\n2\n3\n');
    expect((await other.usage()).isCpuLeast).toBe(true);
    expect((await other.assurance()).controls.find(({ name }) => name === 'network')?.status).toBe('enforced');
    api.close();
  });

  runner.it('without a claim an evicted sandbox is not there, and says so', async () => {
    const api = adminApi();
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    await api.ask('test', await api.pathOf(`pods/${podName(sandbox.id)}`), { method: 'DELETE' });
    await eventually(
      () => kept(api, sandbox.id),
      (found) => !found.includes('pods'),
    );
    await expect(provider.open(sandbox.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    api.close();
  });

  runner.it('a cluster that gives no volume to who names no class refuses the limit, and keeps nothing', async () => {
    const api = adminApi();
    const path = '/apis/storage.k8s.io/v1/storageclasses/litterbox-test';
    const isDefault = async (value: string) =>
      await api.ask('test', path, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': value } } },
      });
    await using provider = await providerOf(directory);
    const id = Ids.make();
    await isDefault('false');
    try {
      await eventually(
        async () => await provider.create(specOf(id, { limits })).catch((error: unknown) => error),
        (error) => isLitterboxError(error, 'UNSUPPORTED'),
      );
      expect(await kept(api, id)).toEqual([]);
    } finally {
      await isDefault('true');
      api.close();
    }
  });
});
