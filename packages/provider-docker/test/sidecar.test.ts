import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collected, eventually, forBackend } from '@litterbox/conformance';
import type { ByteStream, ProcessHandle, SandboxRuntime } from '@litterbox/core/provider';
import { absence } from './backend.ts';
import { PrivateEngine } from './private-engine.ts';
import { Sandboxes } from './sandboxes.ts';

const DEBIAN = { root: { type: 'image', reference: 'debian:bookworm' } } as const;
const CHILD = fileURLToPath(new URL('sidecar-child.ts', import.meta.url));

const SERVER = `$| = 1; my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1:8080", Listen => 9, ReuseAddr => 1) or die;
print "listening\\n"; while (my $one = $server->accept) { print $one "hello from inside\\n"; close $one }`;

/** Starts a server on port 8080 that greets whoever comes; resolves when it listens. */
async function served(runtime: SandboxRuntime): Promise<ProcessHandle> {
  const server = await runtime.spawn({ argv: ['perl', '-MIO::Socket::INET', '-e', SERVER] });
  await server[Symbol.asyncIterator]().next();
  return server;
}

async function read(stream: ByteStream | undefined): Promise<string> {
  if (!stream) throw new Error('nothing can be connected to');
  await using open = stream;
  let text = '';
  for await (const bytes of open.readable as unknown as AsyncIterable<Uint8Array>)
    text += new TextDecoder().decode(bytes);
  return text;
}

const out = async (runtime: SandboxRuntime, script: string) =>
  (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, absence);

  suite.describe('a sandbox whose network cannot be entered from here', () => {
    let directory: string;
    let engine: PrivateEngine;
    const sidecars = async () =>
      (await engine.client.listContainers({ all: true, filters: { label: ['dev.litterbox.sidecar'] } })).filter(
        ({ Labels }) => Labels['dev.litterbox.sidecar'] !== '',
      );

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
      engine = await PrivateEngine.start({ hidden: directory, hasDebian: true });
    }, 120_000);
    afterAll(() => engine[Symbol.asyncDispose]());

    suite.it(
      'is reached by a container beside it that has nothing but its network, and goes when it is closed',
      async () => {
        await using sandboxes = await Sandboxes.open(engine.socket, directory);
        const runtime = await sandboxes.create(DEBIAN);
        expect(await sidecars()).toEqual([]); // nobody has asked for a port
        await using _server = await served(runtime);
        expect(await read(await runtime.connect?.(8080))).toBe('hello from inside\n');

        const [found, ...more] = await sidecars();
        expect(more).toEqual([]);
        const { Config, HostConfig, Mounts } = await engine.client.getContainer(found?.Id ?? '').inspect();
        const [sandbox] = await engine.client.listContainers({
          filters: { label: [`dev.litterbox.id=${runtime.id}`] },
        });
        expect(Mounts).toEqual([]);
        expect(Config).toMatchObject({ User: '65534:65534', StdinOnce: true });
        expect(HostConfig).toMatchObject({
          NetworkMode: `container:${sandbox?.Id}`,
          CapDrop: ['ALL'],
          CapAdd: null,
          Privileged: false,
          ReadonlyRootfs: true,
          PidMode: '',
          IpcMode: 'private',
          AutoRemove: true,
          SecurityOpt: ['no-new-privileges', expect.stringMatching(/^seccomp=\{/)],
        });

        await runtime[Symbol.asyncDispose]();
        expect(await sidecars()).toEqual([]);
      },
    );

    suite.it('has what listens outside of its processes: no program inside sees it or can end it', async () => {
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const runtime = await sandboxes.create(DEBIAN);
      const asked: string[] = [];
      await using _port = await runtime.listen?.(3128, (stream) => {
        asked.push('once');
        void stream[Symbol.asyncDispose]();
      });
      const visit = `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr => "127.0.0.1:3128") ? "came\\n" : "refused\\n"'`;
      // Every process that is seen inside is killed but the shell that does it and the first one.
      const kill =
        'for one in /proc/[0-9]*; do one=${one#/proc/}; [ $one = 1 ] || [ $one = $$ ] || kill -9 $one; done 2>/dev/null';
      expect(await out(runtime, `${kill}; ${visit}`)).toBe('came\n');
      await eventually(
        async () => asked.length,
        (times) => times === 1,
      );
    });

    suite.it('whose container beside it was taken away has the next one', async () => {
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const runtime = await sandboxes.create(DEBIAN);
      await using _server = await served(runtime);
      expect(await read(await runtime.connect?.(8080))).toBe('hello from inside\n');
      const [first] = await sidecars();
      await engine.client.getContainer(first?.Id ?? '').remove({ force: true });
      const said = await eventually(
        async () => await runtime.connect?.(8080).then(read, String),
        (text) => text === 'hello from inside\n',
      );
      expect(said).toBe('hello from inside\n');
      const [second] = await sidecars();
      expect(second?.Id).not.toBe(first?.Id);
    });

    suite.it('AX120: of an image that was made from another sandbox is taken for that one nowhere', async () => {
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const first = await sandboxes.create({ ...DEBIAN, slug: 'first' });
      await out(first, 'echo first >mark');
      const [made] = await engine.client.listContainers({ filters: { label: [`dev.litterbox.id=${first.id}`] } });
      await engine.client.getContainer(made?.Id ?? '').commit({ repo: 'litterbox-test/of-a-sandbox', tag: 'first' });
      const reference = 'litterbox-test/of-a-sandbox:first';
      const { Config } = await engine.client.getImage(reference).inspect();
      expect(Config.Labels?.['dev.litterbox.id']).toBe(first.id); // positive control
      const second = await sandboxes.create({ root: { type: 'image', reference }, slug: 'second' });
      await out(second, 'echo second >mark');
      await using _server = await served(second);
      expect(await read(await second.connect?.(8080))).toBe('hello from inside\n');
      const [beside] = await sidecars(); // the newest container, of the image with the labels

      expect(await out(first, 'cat mark; id -u')).toBe('first\n61100\n');
      expect(beside?.Labels).toMatchObject({ 'dev.litterbox.id': '', 'dev.litterbox.sidecar': second.id });
      await first[Symbol.asyncDispose]();
      await sandboxes.provider.remove(first.id);
      const left = await engine.client.listContainers({ all: true });
      expect(left.map(({ Id }) => Id)).not.toContain(made?.Id);
      expect(await sidecars()).toMatchObject([{ Id: beside?.Id }]);
      expect(await out(second, 'cat mark')).toBe('second\n');
    });

    suite.it('of an image without Perl says what to do', async () => {
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const runtime = await sandboxes.create();
      await expect(runtime.connect?.(8080)).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: expect.stringMatching(/its image has no perl/) as unknown,
        details: { hint: expect.stringMatching(/^Use an image with Perl/) as unknown },
      });
      await expect(runtime.listen?.(3128, () => {})).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    });

    suite.it('has nothing beside it any more when the program that reached it was killed', async () => {
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const runtime = await sandboxes.create(DEBIAN);
      const child = spawn(
        process.execPath,
        ['--conditions=@litterbox/source', '--no-warnings', CHILD, engine.socket, directory, runtime.id],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const ended = new Promise((resolve) => child.once('close', resolve));
      const said = await new Promise<string>((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes))));
      expect(said).toBe('listens\n');
      expect(await sidecars()).toHaveLength(1); // positive control
      child.kill('SIGKILL');
      await ended;
      await eventually(sidecars, (left) => left.length === 0);
    });
  });
} else {
  describe('a sandbox whose network cannot be entered from here', () => {
    it('is on an engine that root alone can start', () => expect(process.getuid?.()).not.toBe(0));
  });
}
