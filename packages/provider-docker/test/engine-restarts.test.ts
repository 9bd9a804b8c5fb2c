import { describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import { isLitterboxError, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { absence } from './backend.ts';
import { PrivateEngine } from './private-engine.ts';
import { Sandboxes } from './sandboxes.ts';

/** What a call may take when the engine is gone. */
const PATIENCE_MS = 15_000;

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, absence);

  suite.describe('an engine that is killed and started again', () => {
    suite.it('ends the call that ran, and keeps files and sandbox (F27)', async () => {
      await using engine = await PrivateEngine.start();
      await using sandboxes = await Sandboxes.open(engine.socket);
      const runtime = await sandboxes.create();
      await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo kept >kept'] }));
      const process = await runtime.spawn({ argv: ['sleep', '1000'] });
      const began = performance.now();
      await engine.signal('KILL');
      await expect(process.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await expect(runtime.spawn({ argv: ['true'] })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(performance.now() - began).toBeLessThan(PATIENCE_MS);
      await expect(sandboxes.provider.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      await engine.restart();
      expect((await collected(await runtime.spawn({ argv: ['cat', 'kept'] }))).stdout).toBe('kept\n');
      await using another = await sandboxes.provider.open(runtime.id);
      expect((await collected(await another.spawn({ argv: ['cat', 'kept'] }))).stdout).toBe('kept\n');
    });

    suite.it('leaves no second container and no half one of a create that it interrupted (F27)', async () => {
      await using engine = await PrivateEngine.start();
      await using sandboxes = await Sandboxes.open(engine.socket);
      await sandboxes.create(); // the base tree and the client are there
      for (const afterMs of [20, 60, 120, 250]) {
        const id = SandboxId.make();
        const creating = sandboxes.provider.create(sandboxes.spec({ id })).then(
          (runtime) => runtime,
          (error: unknown) => error,
        );
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        await engine.signal('KILL');
        const outcome = await creating;
        await engine.restart();
        // What could not be cleared away while the engine was down is cleared away now.
        await sandboxes.provider.remove(id);
        if (outcome instanceof Error) expect(isLitterboxError(outcome, 'UNAVAILABLE')).toBe(true);
        const left = await engine.client.listContainers({ all: true, filters: { label: [`dev.litterbox.id=${id}`] } });
        expect(left).toEqual([]);
        const { Volumes } = await engine.client.listVolumes();
        expect(Volumes.map(({ Name }) => Name)).not.toContain(`litterbox-${id}`);
      }
    });

    suite.it('that stands still is UNAVAILABLE in time, and all goes on when it does (F28)', async () => {
      await using engine = await PrivateEngine.start();
      await using sandboxes = await Sandboxes.open(engine.socket);
      const runtime = await sandboxes.create();
      await engine.signal('STOP');
      const began = performance.now();
      await expect(runtime.spawn({ argv: ['true'] })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      const fresh = docker({
        host: localHost(),
        facts: await localHost().facts(),
        directory: sandboxes.directory,
        socket: engine.socket,
      });
      expect((await fresh.probe()).usable).toBe(false);
      expect(performance.now() - began).toBeLessThan(2 * 10_000);
      await engine.signal('CONT');
      expect((await collected(await runtime.spawn({ argv: ['cat', 'README'] }))).stdout).toBe('read me\n');
    });
  });
} else {
  describe('an engine that is killed', () => {
    it('is started by root alone', () => expect(process.getuid?.()).not.toBe(0));
  });
}
