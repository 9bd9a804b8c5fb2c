import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import { isLitterboxError, SandboxId } from '@litterbox/core/provider';
import { absence } from './cluster.ts';
import { countedCluster, type Fault } from './counted-cluster.ts';
import { kept } from './kept.ts';
import { adminApi, providerOf, sandboxIn, specOf } from './sandbox-in-pod.ts';

const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubernetes-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const runner = await forBackend('kubernetes', { describe, it, afterAll }, absence);

/** The questions of a create, each of which may fail. */
const CREATE = ['POST networkpolicies', 'POST pods', 'exec sandbox', 'GET networkpolicies', 'PATCH pods'] as const;
const once = (wanted: string, fault: Fault) => (word: string, before: number) =>
  word === wanted && before === 0 ? fault : undefined;

runner.describe('an API server that fails now and then', () => {
  for (const word of CREATE)
    runner.it(`a create gets over one failure of ${word}`, async () => {
      for (const status of [429, 503]) {
        await using cluster = await countedCluster(once(word, { status }));
        await using provider = await providerOf(directory, cluster.file);
        await using sandbox = await sandboxIn(provider);
        expect(await collected(await sandbox.runtime.spawn({ argv: ['cat', 'README'] }))).toMatchObject({
          stdout: 'read me\n',
        });
        expect(cluster.asked.filter((one) => one === word).length).toBeGreaterThan(1);
      }
    });

  runner.it('FC-488: what was made although the server failed is taken as made', async () => {
    for (const word of ['POST networkpolicies', 'POST pods']) {
      await using cluster = await countedCluster(once(word, { status: 504, isDone: true }));
      await using provider = await providerOf(directory, cluster.file);
      await using sandbox = await sandboxIn(provider);
      expect(await collected(await sandbox.runtime.spawn({ argv: ['true'] }))).toMatchObject({ exit: { code: 0 } });
    }
  });

  for (const [title, fault] of [
    ['is half open', 'silence'],
    ['is cut', 'cut'],
    ['is refused with 410', { status: 410 }],
    ['is refused with 429', { status: 429 }],
  ] as const)
    runner.it(`a watch that ${title} holds up no create`, async () => {
      await using cluster = await countedCluster((word) => (word === 'watch pods' ? fault : undefined));
      await using provider = await providerOf(directory, cluster.file);
      await using _sandbox = await sandboxIn(provider);
      expect(cluster.asked).toContain('watch pods');
      // It is asked less and less often.
      expect(cluster.asked.filter((one) => one === 'watch pods').length).toBeLessThan(30);
    });
});

runner.describe('an API server that fails for good', () => {
  for (const [title, word, fault, code] of [
    ['an expired token', '', { status: 401 }, 'PERMISSION_DENIED'],
    ['too much asked', 'POST pods', { status: 429 }, 'UNAVAILABLE'],
    ['a server that fails', 'POST networkpolicies', { status: 500 }, 'UNAVAILABLE'],
    ['a verb that is forbidden', 'exec sandbox', { status: 403 }, 'PERMISSION_DENIED'],
    ['policies that nobody may list', 'GET networkpolicies', { status: 403 }, 'PERMISSION_DENIED'],
    ['a line that is cut', 'POST pods', 'cut', 'UNAVAILABLE'],
    ['silence', 'POST pods', 'silence', 'UNAVAILABLE'],
  ] as const)
    runner.it(`${title} is told as that in time, and leaves nothing that was not told`, async () => {
      const id = SandboxId.make();
      await using cluster = await countedCluster((one) => (word === '' || one === word ? fault : undefined));
      await using provider = await providerOf(directory, cluster.file);
      const begun = performance.now();
      const error: unknown = await provider.create(specOf(id)).catch((one: unknown) => one);
      const seconds = (performance.now() - begun) / 1000;
      if (!isLitterboxError(error)) throw new Error(`no failure: ${String(error)}`);
      expect([error.code, error.details.hint]).toEqual([code, expect.any(String)]);
      // Beside the answer there is what was made, which goes again.
      expect(seconds).toBeLessThan(word === 'exec sandbox' ? 30 : 15);
      const api = adminApi();
      expect(await kept(api, id)).toEqual([]);
      api.close();
    });

  runner.it('a program whose websocket is cut has lost its connection, and the next one runs', async () => {
    await using cluster = await countedCluster();
    await using provider = await providerOf(directory, cluster.file);
    await using sandbox = await sandboxIn(provider);
    const program = await sandbox.runtime.spawn({ argv: ['sleep', '1000'] });
    cluster.cut();
    await expect(program.exit).rejects.toThrow(/closed the connection before/);
    expect(await collected(await sandbox.runtime.spawn({ argv: ['cat', 'README'] }))).toMatchObject({
      stdout: 'read me\n',
    });
  });
});
