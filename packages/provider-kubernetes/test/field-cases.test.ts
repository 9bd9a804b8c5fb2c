import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, eventually, forBackend } from '@litterbox/conformance';
import { isLitterboxError, SandboxId } from '@litterbox/core/provider';
import { podName } from '../src/pod-meta.ts';
import { absence } from './cluster.ts';
import { objectsOf } from './deploy.ts';
import { adminApi, providerOf, sandboxIn, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);
const refused = async (work: Promise<unknown>) => {
  const begun = performance.now();
  const error: unknown = await work.catch((one: unknown) => one);
  if (!isLitterboxError(error)) throw new Error(`it was not refused: ${String(error)}`);
  return { code: error.code, message: error.message, seconds: (performance.now() - begun) / 1000 };
};

runner.describe('trouble that others met with pods', () => {
  runner.it('FC-400: stdin ends, though protocol v4 cannot end it', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    const sums = await sandbox.runtime.spawn({ argv: ['md5sum'], stdin: 'pipe' });
    // FC-410: sixteen mebibytes of it arrive.
    for (let count = 0; count < 256; count += 1) await sums.write(new Uint8Array(2 ** 16));
    await sums.closeStdin();
    expect(await collected(sums)).toMatchObject({ stdout: '2c7ab85a893283e98c931e9511add182  -\n', exit: { code: 0 } });
    // Nothing that took the input apart is left.
    const { stdout } = await collected(
      await sandbox.runtime.spawn({ argv: ['sh', '-c', 'cat /proc/[0-9]*/cmdline | grep -c lb_take'] }),
    );
    expect(stdout).toBe('1\n'); // the shell that asks
  });

  runner.it('FC-402: a program whose connection is let go does not run on', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    const asleep = await sandbox.runtime.spawn({ argv: ['sh', '-c', 'sleep 31415 & sleep 31415'] });
    await asleep[Symbol.asyncDispose]();
    const left = async () =>
      (
        await collected(
          await sandbox.runtime.spawn({
            argv: ['sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 3141[5]"'],
          }),
        )
      ).stdout;
    await eventually(left, (count) => count === '0\n');
  });

  runner.it('FC-404: all output comes, whatever its length', async () => {
    await using provider = await providerOf(directory);
    await using sandbox = await sandboxIn(provider);
    for (let round = 0; round < 3; round += 1) {
      let last = '';
      const program = await sandbox.runtime.spawn({ argv: ['sh', '-c', 'seq 1 2000000; exit 7'] });
      for await (const { bytes } of program) last = (last + new TextDecoder().decode(bytes)).slice(-20);
      expect(last.endsWith('\n2000000\n')).toBe(true);
      expect(await program.exit).toEqual({ code: 7 });
    }
  });

  runner.it('FC-405: a quota that is used up is told as that, at once, and leaves nothing', async () => {
    const api = adminApi();
    const path = await api.pathOf('resourcequotas');
    await using provider = await providerOf(directory);
    await api.ask('test', path, {
      method: 'POST',
      body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { pods: '0' } } },
    });
    try {
      const id = SandboxId.make();
      const isCounted = async () => JSON.stringify(await api.ask('test', `${path}/none`)).includes('"used":{"pods"');
      await eventually(isCounted, (is) => is);
      const { code, message, seconds } = await refused(provider.create(specOf(id)));
      expect(code).toBe('RESOURCE_EXHAUSTED');
      expect(message).toMatch(/quota of the namespace/);
      expect(seconds).toBeLessThan(10);
      const policy = await api.pathOf(`networkpolicies/${podName(id)}`, 'apis/networking.k8s.io/v1');
      expect((await refused(api.ask('test', policy))).code).toBe('NOT_FOUND');
    } finally {
      await api.ask('test', `${path}/none`, { method: 'DELETE' });
      api.close();
    }
  });

  runner.it('FC-407: an image that nobody has is told as that within ten seconds', async () => {
    await using provider = await providerOf(directory);
    const id = SandboxId.make();
    const reference = 'localhost:1/no-such-image:1';
    const { code, message, seconds } = await refused(
      provider.create(specOf(id, { root: { type: 'image', reference } })),
    );
    expect(code).toBe('NOT_FOUND');
    expect(message).toContain('cannot get the image');
    expect(seconds).toBeLessThan(10);
    expect((await refused(provider.open(id))).code).toBe('NOT_FOUND');
  });

  runner.it(
    'who has no rights is told which are missing; the role of the base gives all of them, and no more',
    async () => {
      const api = adminApi();
      const file = (process.env['KUBECONFIG'] ?? '').replace('admin.', 'plain.');
      await using provider = await providerOf(directory, file);
      const rights = async () => (await provider.probe()).checks.find(({ name }) => name === 'rights');
      expect(await rights()).toMatchObject({ status: 'failed', finding: expect.stringContaining('create pods/exec') });
      expect((await refused(provider.create(specOf(SandboxId.make())))).code).toBe('PERMISSION_DENIED');
      const rbac = 'apis/rbac.authorization.k8s.io/v1';
      const made = await objectsOf('base/role.yaml');
      const pathOf = async (kind: string) => await api.pathOf(`${kind.toLowerCase()}s`, rbac);
      try {
        for (const body of made) await api.ask('test', await pathOf(body.kind), { method: 'POST', body });
        await eventually(rights, (check) => check?.status === 'ok');
        await using sandbox = await sandboxIn(provider);
        expect(await collected(await sandbox.runtime.spawn({ argv: ['cat', 'README'] }))).toMatchObject({
          stdout: 'read me\n',
        });
      } finally {
        for (const { kind, metadata } of made)
          await api.ask('test', `${await pathOf(kind)}/${metadata.name}`, { method: 'DELETE' });
        api.close();
      }
    },
  );
});
