import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { collected, eventually, type FixtureFile, fixtureWorkspace, forBackend } from '@litterbox/conformance';
import { decodeRaw, isLitterboxError, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import Client from 'dockerode';
import { docker } from '../src/index.ts';
import { absence, TEST_SOCKET } from './backend.ts';
import { Sandboxes } from './sandboxes.ts';

const suite = await forBackend('docker', { describe, it }, absence);
const engine = new Client({ socketPath: TEST_SOCKET });
/** What a person waits at most for an explanation. */
const PATIENCE_MS = 10_000;

async function withDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
  try {
    await body(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What probing and creating say of a socket, and how long the slower of them took. */
async function said(directory: string, socket: string) {
  const sandboxes = docker({ host: localHost(), facts: await localHost().facts(), directory, socket });
  const began = performance.now();
  const probe = await sandboxes.probe();
  const probed = performance.now();
  await using known = await Sandboxes.open();
  const error: unknown = await sandboxes.create(known.spec()).catch((reason: unknown) => reason);
  return { probe, error, ms: Math.max(probed - began, performance.now() - probed) };
}

async function containerOf(id: string): Promise<Client.Container> {
  const [found] = await engine.listContainers({ all: true, filters: { label: [`dev.litterbox.id=${id}`] } });
  return engine.getContainer(found?.Id ?? '');
}

async function archive(files: readonly FixtureFile[]): Promise<Uint8Array> {
  return new Uint8Array(await new Response(fixtureWorkspace('archive', files).open()).arrayBuffer());
}

/** An image of one file as `docker load` takes it, of any architecture. */
async function savedImage(name: string, architecture: string): Promise<Uint8Array> {
  const layer = await archive([{ path: 'file', content: 'x' }]);
  const diff = createHash('sha256').update(layer).digest('hex');
  const config = { architecture, os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [`sha256:${diff}`] } };
  return await archive([
    { path: 'config.json', content: JSON.stringify(config) },
    { path: 'layer.tar', content: decodeRaw(layer) },
    {
      path: 'manifest.json',
      content: JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]),
    },
  ]);
}

suite.describe('an engine', () => {
  suite.it('that is not there is UNAVAILABLE, with the socket and how to start it', async () => {
    await withDirectory(async (directory) => {
      const { probe, error, ms } = await said(directory, `${directory}/no.sock`);
      expect(probe).toMatchObject({
        usable: false,
        checks: [{ status: 'failed', remedy: expect.stringMatching(/start/i) }],
      });
      expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('no.sock') });
      expect(ms).toBeLessThan(PATIENCE_MS);
    });
  });

  suite.it('that is not there does not keep what was never made from being removed', async () => {
    await withDirectory(async (directory) => {
      await docker({
        host: localHost(),
        facts: await localHost().facts(),
        directory,
        socket: `${directory}/no.sock`,
      }).remove(SandboxId.make());
    });
  });

  suite.it('whose socket nobody listens at any more is UNAVAILABLE', async () => {
    await withDirectory(async (directory) => {
      const socket = `${directory}/dead.sock`;
      const server = createServer().listen(socket);
      await new Promise((resolve) => server.once('listening', resolve));
      await writeFile(`${directory}/keep`, '');
      // The file stays when a process dies; closing in good order would remove it.
      const { probe } = await said(directory, `${directory}/keep`);
      server.close();
      expect(probe.usable).toBe(false);
    });
  });

  suite.it('that takes the question and never answers is UNAVAILABLE in time', async () => {
    await withDirectory(async (directory) => {
      const socket = `${directory}/mute.sock`;
      const open = new Set<{ destroy(): void }>();
      const server = createServer((connection) => open.add(connection)).listen(socket);
      await new Promise((resolve) => server.once('listening', resolve));
      try {
        const { probe, error, ms } = await said(directory, socket);
        expect(probe.checks[0]?.finding).toContain('does not answer');
        expect(error).toMatchObject({ code: 'UNAVAILABLE' });
        expect(ms).toBeLessThan(PATIENCE_MS);
      } finally {
        for (const connection of open) connection.destroy();
        server.close();
      }
    });
  });

  suite.it('that speaks something else is UNAVAILABLE', async () => {
    await withDirectory(async (directory) => {
      const socket = `${directory}/other.sock`;
      const server = createServer((connection) => connection.end('220 mail.example ESMTP\r\n')).listen(socket);
      await new Promise((resolve) => server.once('listening', resolve));
      const { probe, error } = await said(directory, socket);
      server.close();
      expect(probe.usable).toBe(false);
      expect(isLitterboxError(error, 'UNAVAILABLE')).toBe(true);
    });
  });

  if (process.getuid?.() !== 0) {
    suite.it('whose socket is not for this user says how to be let in', async () => {
      await withDirectory(async (directory) => {
        const socket = `${directory}/private.sock`;
        const server = createServer().listen(socket);
        await new Promise((resolve) => server.once('listening', resolve));
        await chmod(socket, 0);
        const { error } = await said(directory, socket);
        server.close();
        expect(error).toMatchObject({ code: 'UNAVAILABLE', details: { hint: expect.stringContaining('usermod') } });
      });
    });
  }
});

suite.describe('behind our back', () => {
  suite.it('a sandbox that was removed is not made again by who still has it', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await sandboxes.provider.remove(runtime.id);
    await expect(runtime.spawn({ argv: ['true'] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const filters = { label: [`dev.litterbox.id=${runtime.id}`] };
    expect(await engine.listContainers({ all: true, filters })).toEqual([]);
    expect((await engine.listVolumes({ filters })).Volumes).toEqual([]);
  });

  suite.it('a container that was removed is made again, with all files (F29)', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo kept >kept; echo home >~/kept'] }));
    await (await containerOf(runtime.id)).remove({ force: true, v: true });
    const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', 'cat kept ~/kept README'] }));
    expect(stdout).toBe('kept\nhome\nread me\n');
  });

  suite.it('a container and its volume that were pruned are made again (F29)', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo kept >kept'] }));
    await (await containerOf(runtime.id)).remove({ force: true, v: true });
    await engine.getVolume(`litterbox-${runtime.id}`).remove({ force: true });
    await using reopened = await sandboxes.provider.open(runtime.id);
    expect((await collected(await reopened.spawn({ argv: ['cat', 'kept'] }))).stdout).toBe('kept\n');
  });

  suite.it('a container that was renamed, stopped or killed is found and started', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    const container = await containerOf(runtime.id);
    await container.rename({ name: `renamed-${runtime.id}` });
    expect((await collected(await runtime.spawn({ argv: ['cat', 'README'] }))).stdout).toBe('read me\n');
    await container.kill();
    await container.wait();
    expect((await collected(await runtime.spawn({ argv: ['cat', 'README'] }))).stdout).toBe('read me\n');
  });

  suite.it(
    'what the engine made for a program that was killed meanwhile is taken away by the next removal, of this directory alone',
    async () => {
      await using sandboxes = await Sandboxes.open();
      const made: string[] = [];
      const late = async (root: string) => {
        const id = SandboxId.make();
        const at = `${root}/sandboxes/${id}`;
        const options = `lowerdir=${root}/bases/0,upperdir=${at}/upper,workdir=${at}/work`;
        const volume = {
          Name: `litterbox-${id}`,
          Labels: { 'dev.litterbox.id': id },
          DriverOpts: { type: 'overlay', device: 'overlay', o: options },
        };
        await engine.createVolume(volume);
        made.push(volume.Name);
        return volume.Name;
      };
      try {
        const ours = await late(`${sandboxes.directory}/docker`);
        const theirs = await late('/var/lib/somebody/litterbox/docker');
        const { id } = await sandboxes.create();
        await sandboxes.provider.remove(id);
        const { Volumes } = await engine.listVolumes();
        const left = Volumes.map(({ Name }) => Name).filter((name) => made.includes(name));
        expect(left).toEqual([theirs]);
        expect(ours).not.toBe(theirs);
      } finally {
        for (const name of made)
          await engine
            .getVolume(name)
            .remove({ force: true })
            .catch(() => {}); // gone, as it should be
      }
    },
  );

  suite.it('a container whose image is gone too is SANDBOX_BROKEN, and can be removed', async () => {
    await using sandboxes = await Sandboxes.open();
    const seed = await engine.createContainer({ Image: 'busybox:latest', Cmd: ['true'], Labels: { one: 'of a kind' } });
    const tag = crypto.randomUUID();
    await seed.commit({ repo: 'litterbox-test/gone', tag, comment: tag });
    await seed.remove();
    const image = `litterbox-test/gone:${tag}`;
    const runtime = await sandboxes.create({ root: { type: 'image', reference: image } });
    await (await containerOf(runtime.id)).remove({ force: true });
    await engine.getImage(image).remove({ force: true });
    await expect(runtime.spawn({ argv: ['true'] })).rejects.toMatchObject({
      code: 'SANDBOX_BROKEN',
      details: { hint: expect.stringContaining('recover') },
    });
  });

  suite.it('what an agent does to its own first process ends its container, which is started again', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    const process = await runtime.spawn({
      argv: ['sh', '-c', 'echo kept >kept; for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done; kill -TERM 1'],
    });
    await process.exit.catch(() => {});
    expect((await collected(await runtime.spawn({ argv: ['cat', 'kept'] }))).stdout).toBe('kept\n');
  });
});

suite.describe('an image', () => {
  suite.it('that nobody has is NOT_FOUND in time, with how to get it', async () => {
    await using sandboxes = await Sandboxes.open();
    const began = performance.now();
    await expect(
      sandboxes.create({ root: { type: 'image', reference: '127.0.0.1:1/no/such:image' } }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('127.0.0.1:1/no/such:image'),
      details: { hint: expect.stringContaining('docker pull') },
    });
    expect(performance.now() - began).toBeLessThan(PATIENCE_MS);
  });

  suite.it('for another architecture is UNSUPPORTED', async () => {
    const foreign = process.arch === 'arm64' ? 'amd64' : 'arm64';
    const image = `litterbox-test/foreign:${crypto.randomUUID()}`;
    await engine.loadImage(Readable.from([await savedImage(image, foreign)]));
    await eventually(
      async () =>
        await engine
          .getImage(image)
          .inspect()
          .catch(() => undefined),
      (found) => found !== undefined,
    );
    try {
      await using sandboxes = await Sandboxes.open();
      await expect(sandboxes.create({ root: { type: 'image', reference: image } })).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: expect.stringContaining(foreign),
      });
    } finally {
      await engine.getImage(image).remove({ force: true });
    }
  });
});
