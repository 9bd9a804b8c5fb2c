import { afterAll, describe, expect, it } from '@jest/globals';
import { describeHost, eventually, forBackend } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { Engine } from '../src/engine/engine.ts';
import { EngineHost } from '../src/far-files/engine-host.ts';
import {
  ensureFilesContainer,
  type FilesRecord,
  makeFilesVolume,
  removeFilesContainer,
} from '../src/far-files/file-access-container.ts';

/** Where tools/test-host/docker.sh lets the engine of the tests listen. */
const TEST_SOCKET = '/var/lib/litterbox-test/run/docker.sock';

const engine = new Engine({
  provider: 'docker',
  kind: 'docker',
  title: 'Docker',
  startHint: 'Run tools/test-host.sh up.',
  permissionHint: 'Run the tests as root.',
  host: localHost(),
  findEngine: async () => ({ type: 'unix', path: TEST_SOCKET }),
  findSocketThere: async () => TEST_SOCKET,
});

if (process.getuid?.() === 0) {
  const absence = async () =>
    await engine
      .ask('test', async (docker) => docker.ping())
      .then(
        () => undefined,
        (error: unknown) => String(error),
      );
  let files: Promise<FilesRecord> | undefined;
  const record = () =>
    (files ??= (async () => {
      const { Id } = await engine.ask('test', async (docker) => docker.getImage('debian:bookworm').inspect());
      return await makeFilesVolume(engine, Id);
    })());
  const runner = await forBackend('docker', { describe, it }, absence);
  const open = () =>
    new EngineHost({ engine, container: async (call) => await ensureFilesContainer(engine, await record(), call) });
  describeHost({
    name: 'of an engine',
    runner,
    hasSockets: false,
    timeoutMs: 120_000,
    open: async () => open(),
    directory: async () => (await record()).directory,
  });
  runner.describe('an engine whose files container is removed', () => {
    runner.it('is asked as before, also by many at once, and by those who held a shell in it', async () => {
      await using host = open();
      const { name, directory } = await record();
      const atOnce = [1, 2, 3, 4, 5, 6];
      for (const isHeard of [true, false]) {
        const held = await Promise.all(
          atOnce.map(async () => await host.spawn({ argv: ['sleep', '600'] })), // they end with the container
        );
        await Promise.all(atOnce.map(async () => await host.files.stat(directory)));
        await engine.ask('test', async (docker) => docker.getContainer(name).remove({ force: true }));
        if (isHeard) await Promise.all(held.map(async (process) => await process.exit));
        const found = await Promise.all(atOnce.map(async () => await host.files.stat(directory)));
        expect(found.map((stat) => stat?.type)).toEqual(atOnce.map(() => 'directory'));
      }
    });
  });
  runner.describe('the files container', () => {
    runner.it('stays while another process works in it, and goes when nobody else does', async () => {
      await using host = open();
      await using other = open();
      const { directory } = await record();
      await Promise.all([host, other].map(async (one) => await one.files.stat(directory)));
      expect(await removeFilesContainer(engine, await record(), host.execIds)).toBe(false);
      await other[Symbol.asyncDispose]();
      const isGone = async () => await removeFilesContainer(engine, await record(), host.execIds);
      await eventually(isGone, (gone) => gone);
      expect((await host.files.stat(directory))?.type).toBe('directory');
    });

    runner.it('is there for whoever asks while others remove it', async () => {
      const { name } = await record();
      for (let round = 0; round < 8; round += 1) {
        const removing = [1, 2, 3].map(async () => {
          const remove = engine.ask('test', async (docker) => docker.getContainer(name).remove({ force: true }));
          await remove.catch(() => undefined); // another one was faster
        });
        const asked = [1, 2].map(async () => await ensureFilesContainer(engine, await record()));
        for (const { id } of await Promise.all(asked)) expect(id).not.toBe('');
        await Promise.all(removing);
      }
    });
  });
  afterAll(async () => {
    const made = await files;
    if (!made) return;
    await engine.askIfThere('test', async (docker) => docker.getContainer(made.name).remove({ force: true }));
    await engine.askIfThere('test', async (docker) => docker.getVolume(made.name).remove());
  });
} else {
  describe("an engine's own machine", () => {
    it('is reached by root alone here', () => {});
  });
}
