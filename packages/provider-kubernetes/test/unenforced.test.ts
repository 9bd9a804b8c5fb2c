import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, forBackend } from '@litterbox/conformance';
import { SandboxId, type SandboxProvider } from '@litterbox/core/provider';
import { absence } from './cluster.ts';
import { switchedOff } from './cluster-switch.ts';
import { providerOf, sandboxIn, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);

async function networkOf(provider: SandboxProvider, id: SandboxId) {
  await using runtime = await provider.open(id);
  return (await runtime.assurance()).controls.find(({ name }) => name === 'network');
}

runner.describe('a cluster that enforces no policy', () => {
  runner.it('AX163: it is told as a network that is open, and was shut before', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    expect(await networkOf(provider, sandbox.id)).toMatchObject({ status: 'enforced' });
    await using _open = await switchedOff('policies');
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
      const error: unknown = await (async () => {
        await using sandbox = await sandboxIn(provider);
        await using _open = await switchedOff('policies');
        // By then the node has heard of it too.
        await eventually(
          () => networkOf(provider, sandbox.id),
          (control) => control?.status === 'absent',
        );
        return await provider.create(specOf(id, { allowDegraded: true })).catch((one: unknown) => one);
      })();
      expect(error).toMatchObject({ code: 'DEGRADED', details: { facts: { missing: ['network'] } } });
      await expect(provider.open(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );
});
