import { describe, expect, it } from '@jest/globals';
import { collected, fixtureWorkspace, forBackend } from '@litterbox/conformance';
import { SandboxId, type SandboxSpec } from '@litterbox/core/provider';
import { EngineOverSsh } from './engine-over-ssh.ts';

/** What a person waits at most for an explanation. */
const PATIENCE_MS = 10_000;

function spec(): SandboxSpec {
  const id = SandboxId.make();
  return {
    id,
    slug: 'test',
    repositoryId: '00000000-0000-4000-8000-000000000000',
    workspace: fixtureWorkspace('f1f1f1f1', [{ path: 'README', content: 'read me\n' }]),
    workdir: '/src',
    root: { type: 'image', reference: 'busybox:latest' },
    environment: {},
    limits: {},
    network: 'none',
    playground: id,
    allowDegraded: false,
  };
}

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, async () => undefined);
  suite.describe('an engine on a machine that is reached over SSH', () => {
    suite.it('has sandboxes there, and nothing of them here', async () => {
      await using over = await EngineOverSsh.start();
      await using provider = await over.provider();
      const runtime = await provider.create(spec());
      expect(await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo kept >kept; cat README'] }))).toMatchObject(
        {
          stdout: 'read me\n',
        },
      );
      await using again = await over.provider();
      await using opened = await again.open(runtime.id);
      expect(await collected(await opened.spawn({ argv: ['cat', 'kept'] }))).toMatchObject({ stdout: 'kept\n' });
      await again.remove(runtime.id);
    });

    suite.it('that loses the connection ends what runs in time, and the next call connects anew', async () => {
      await using over = await EngineOverSsh.start();
      await using provider = await over.provider();
      await using runtime = await provider.create(spec());
      await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo kept >kept'] }));
      const process = await runtime.spawn({ argv: ['sleep', '1000'] });
      const began = performance.now();
      over.cut();
      await expect(process.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(performance.now() - began).toBeLessThan(2 * PATIENCE_MS);
      expect(await collected(await runtime.spawn({ argv: ['cat', 'kept'] }))).toMatchObject({ stdout: 'kept\n' });
      await provider.remove(runtime.id);
    });

    suite.it('whose key nobody knows is asked nothing', async () => {
      await using over = await EngineOverSsh.start();
      await using provider = await over.provider({ knows: false });
      await expect(provider.create(spec())).rejects.toMatchObject({ code: 'SSH_HOSTKEY_UNKNOWN' });
      expect(await over.volumes()).toEqual([]);
    });

    suite.it('is told apart from a machine where nothing listens, and from one that is gone, in time', async () => {
      await using over = await EngineOverSsh.start();
      await using nobody = await over.provider({ path: '/nowhere/docker.sock' });
      const began = performance.now();
      expect((await nobody.probe()).checks[0]).toMatchObject({
        finding: expect.stringContaining('Nothing answers at /nowhere/docker.sock'),
        remedy: expect.stringContaining('AllowStreamLocalForwarding'),
      });
      await over.server.down();
      await using gone = await over.provider();
      expect((await gone.probe()).checks[0]).toMatchObject({ finding: expect.stringContaining('cannot be reached') });
      expect(performance.now() - began).toBeLessThan(2 * PATIENCE_MS);
    });
  });
} else {
  describe('an engine behind a server of a test', () => {
    it('is started by root alone', () => expect(process.getuid?.()).not.toBe(0));
  });
}
