import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, forBackend } from '@litterbox/conformance';
import { isLitterboxError, SandboxId, type SandboxProvider } from '@litterbox/core/provider';
import { podName } from '../src/pod-meta.ts';
import { absence } from './cluster.ts';
import { adminApi, providerOf, sandboxIn, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);

/** The sandbox as a cluster without enforcement has it: the same pod, and nothing that shuts it in. */
async function withoutPolicy(id: SandboxId): Promise<void> {
  const api = adminApi();
  await api.ask('test', await api.pathOf(`networkpolicies/${podName(id)}`, 'apis/networking.k8s.io/v1'), {
    method: 'DELETE',
  });
  api.close();
}

async function networkOf(provider: SandboxProvider, id: SandboxId) {
  await using runtime = await provider.open(id);
  return (await runtime.assurance()).controls.find(({ name }) => name === 'network');
}

runner.describe('a cluster that enforces no policy', () => {
  runner.it('AX163: it is told as a network that is open, and was shut before', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    expect(await networkOf(provider, sandbox.id)).toMatchObject({ status: 'enforced' });
    await withoutPolicy(sandbox.id);
    const open = await eventually(
      () => networkOf(provider, sandbox.id),
      (control) => control?.status === 'absent',
    );
    expect(open).toMatchObject({ finding: expect.stringMatching(/policies are not enforced: .* answers/) });
  });

  runner.it(
    'AX163: no sandbox is made there, not even for who allows it to lack controls, and nothing is left',
    async () => {
      await using provider = await providerOf(directory);
      const id = SandboxId.make();
      const over = new AbortController();
      const taking = (async () => {
        while (!over.signal.aborted) await withoutPolicy(id).catch(() => {}); // there is none yet, or none any more
      })();
      const error: unknown = await provider.create(specOf(id, { allowDegraded: true })).catch((one: unknown) => one);
      over.abort();
      await taking;
      expect(error).toMatchObject({ code: 'DEGRADED', details: { facts: { missing: ['network'] } } });
      await expect(provider.open(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );

  runner.it('a sandbox that lacks a control is made for nobody who did not allow that, and leaves no pod', async () => {
    await using provider = await providerOf(directory);
    const id = SandboxId.make();
    const error: unknown = await provider.create(specOf(id, { allowDegraded: false })).catch((one: unknown) => one);
    expect(isLitterboxError(error, 'DEGRADED')).toBe(true);
    await expect(provider.open(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
