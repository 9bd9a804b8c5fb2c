import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import type { SandboxProvider } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import Client from 'dockerode';
import { PrivateEngine } from './private-engine.ts';
import { docker } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';
import { EngineOverTls } from './engine-over-tls.ts';
import { Sandboxes } from './sandboxes.ts';

const states = async (provider: SandboxProvider) => {
  const found = new Map<string, string>();
  for await (const { id, state } of provider.list()) found.set(id, state);
  return found;
};

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, absence);
  const local = new Client({ socketPath: TEST_SOCKET });
  const containersOf = async (client: Client, id: string) =>
    (await client.listContainers({ all: true, filters: { label: [`dev.litterbox.id=${id}`] } })).length;

  suite.describe('a sandbox on one engine, while another one is reached', () => {
    suite.it(
      'is unreachable, neither made again nor removed there, and as it was when its engine is back',
      async () => {
        await using over = await EngineOverTls.start();
        const host = localHost();
        const facts = await host.facts();
        const here = async () => docker({ host, facts, directory: over.directory, socket: TEST_SOCKET });
        const first = await over.provider();
        await using far = await Sandboxes.over(first, over.directory);
        const onFar = await far.create();
        await collected(await onFar.spawn({ argv: ['sh', '-c', 'echo far >kept'] }));
        await using near = await Sandboxes.over(await here(), over.directory);
        const onNear = await near.create();
        await collected(await onNear.spawn({ argv: ['sh', '-c', 'echo near >kept'] }));

        expect(await states(near.provider)).toEqual(
          new Map([
            [onNear.id, 'running'],
            [onFar.id, 'unreachable'],
          ]),
        );
        expect(await states(await over.provider())).toEqual(
          new Map([
            [onNear.id, 'unreachable'],
            [onFar.id, 'running'],
          ]),
        );
        for (const [other, id, at] of [
          [near.provider, onFar.id, `tcp://127.0.0.1:${over.port}`],
          [await over.provider(), onNear.id, `tcp://127.0.0.1:${over.port}`],
        ] as const) {
          const refusal = {
            code: 'UNAVAILABLE',
            message: expect.stringContaining(at),
            details: { hint: expect.any(String) },
          };
          await expect(other.open(id)).rejects.toMatchObject(refusal);
          await expect(other.remove(id)).rejects.toMatchObject(refusal);
        }
        expect([await containersOf(local, onFar.id), await containersOf(over.engine.client, onNear.id)]).toEqual([
          0, 0,
        ]);
        expect([await containersOf(local, onNear.id), await containersOf(over.engine.client, onFar.id)]).toEqual([
          1, 1,
        ]);

        const environment = { DOCKER_HOST: 'tcp://10.0.0.7:2375' };
        const refused = docker({ host: { ...localHost(), environment }, facts, directory: over.directory });
        await expect(states(refused)).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message: expect.stringContaining('without TLS'),
        });

        await using back = await (await over.provider()).open(onFar.id);
        expect(await collected(await back.spawn({ argv: ['cat', 'kept'] }))).toMatchObject({ stdout: 'far\n' });
      },
    );

    suite.it(
      'FC-324: is unreachable through another engine of this machine, and through none, and nothing of it goes',
      async () => {
        await using other = await PrivateEngine.start();
        await using sandboxes = await Sandboxes.open();
        const { directory, provider } = sandboxes;
        const runtime = await sandboxes.create();
        await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo home >$HOME/kept; echo work >kept'] }));
        const host = localHost();
        const facts = await host.facts();
        const through = (socket: string) => docker({ host, facts, directory, socket });
        const elsewhere = through(other.socket);
        expect(await states(elsewhere)).toEqual(new Map([[runtime.id, 'unreachable']]));
        const away = through(join(directory, 'nobody'));
        await expect(states(away)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
        for (const wrong of [elsewhere, away])
          for (const options of [{}, { keepPlayground: true }])
            await expect(wrong.remove(runtime.id, options)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
        expect(await containersOf(local, runtime.id)).toBe(1);
        expect(await states(provider)).toEqual(new Map([[runtime.id, 'running']]));
        const kept = await collected(await runtime.spawn({ argv: ['sh', '-c', 'cat $HOME/kept kept'] }));
        expect(kept).toMatchObject({ stdout: 'home\nwork\n' });
        // One whose container somebody has removed is on this engine all the same.
        for (const { Id } of await local.listContainers({
          all: true,
          filters: { label: [`dev.litterbox.id=${runtime.id}`] },
        }))
          await local.getContainer(Id).remove({ force: true });
        expect(await states(provider)).toEqual(new Map([[runtime.id, 'running']]));
        expect(await collected(await runtime.spawn({ argv: ['cat', 'kept'] }))).toMatchObject({ stdout: 'work\n' });
      },
    );

    suite.it('whose volume was removed is told so, and no empty one takes its place', async () => {
      await using over = await EngineOverTls.start();
      const { client } = over.engine;
      const first = await over.provider();
      const far = await Sandboxes.over(first, over.directory);
      const runtime = await far.create();
      await runtime[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      for (const { Id } of await client.listContainers({ all: true }))
        await client.getContainer(Id).remove({ force: true });
      const { Volumes: volumes } = await client.listVolumes();
      for (const { Name } of volumes) await client.getVolume(Name).remove({ force: true });
      const lost = { code: 'REMOTE_STATE_LOST', details: { hint: expect.stringContaining('recover') } };
      await expect(states(await over.provider())).rejects.toMatchObject(lost);
      expect((await client.listVolumes()).Volumes).toEqual([]);
    });
  });
} else {
  describe('an engine that is reached instead of another one', () => {
    it('is started by root alone', () => expect(process.getuid?.()).not.toBe(0));
  });
}
