import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import type { Host } from '@litterbox/core/provider';
import { docker } from '../src/index.ts';
import { absence } from './backend.ts';
import { EngineOverTls, tlsHost } from './engine-over-tls.ts';
import { freePort, TlsFiles } from './tls-files.ts';
import { Sandboxes } from './sandboxes.ts';

/** What a person waits at most for an explanation. */
const PATIENCE_MS = 10_000;
/** When what runs on an engine that stands still is given up: thirty seconds, and a look at what became of it. */
const SILENCE_MS = 60_000;
/** More than any buffer on the way holds. */
const MUCH = 3 * 2 ** 20;

/** What a look says of an engine that cannot be used, and how long it took. */
async function finding(host: Host) {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
  await using provider = docker({ host, facts: await host.facts(), directory });
  const began = performance.now();
  const { usable, checks } = await provider.probe();
  const isInTime = performance.now() - began < PATIENCE_MS;
  await rm(directory, { recursive: true, force: true });
  return { usable, finding: checks[0]?.finding ?? '', remedy: checks[0]?.remedy ?? '', isInTime };
}

/** A server of a test's own, and a port. */
async function listening(
  server: ReturnType<typeof createServer>,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const open = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => open.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('an engine that cannot be trusted, or does not trust', () => {
  let files: TlsFiles;
  beforeAll(() => {
    files = new TlsFiles();
  });
  afterAll(() => files[Symbol.dispose]());
  const at = (port: number, client = 'client') => tlsHost(`tcp://127.0.0.1:${port}`, files.path(client));
  const shows = (name: string) => ({ cert: files.read(`${name}/cert.pem`), key: files.read(`${name}/key.pem`) });

  it('is refused when its certificate has expired', async () => {
    await using server = await listening(createTlsServer(shows('late'), () => {}));
    expect(await finding(at(server.port))).toMatchObject({
      usable: false,
      finding: expect.stringContaining('its certificate has expired'),
      isInTime: true,
    });
  });

  it('is refused when its certificate is for another name', async () => {
    await using server = await listening(createTlsServer(shows('engine'), () => {}));
    expect(await finding(tlsHost(`tcp://127.0.0.2:${server.port}`, files.path('client')))).toMatchObject({
      usable: false,
    });
    const host = at(server.port);
    const renamed: Host = {
      ...host,
      connect: async (_address, call) => await host.connect({ host: '127.0.0.1', port: server.port }, call),
    };
    const environment = { ...host.environment, DOCKER_HOST: `tcp://engine.example.org:${server.port}` };
    expect(await finding({ ...renamed, environment })).toMatchObject({
      usable: false,
      finding: expect.stringContaining('for another name'),
    });
  });

  it('is refused when nobody vouches for it, also where Node was told to believe everybody', async () => {
    await using server = await listening(createTlsServer(shows('engine'), () => {}));
    const host = at(server.port, 'deceived');
    const nobody = expect.stringContaining('ca.pem does not vouch for');
    expect(await finding(host)).toMatchObject({ usable: false, finding: nobody });
    // A program's own environment: that of a test is a copy, which Node does not read.
    const child = ['--no-warnings', '--conditions=@litterbox/source', join(import.meta.dirname, 'probe-child.ts')];
    const env = { PATH: process.env['PATH'], ...host.environment, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { stdout } = await promisify(execFile)(process.execPath, child, { env });
    expect(stdout).toEqual(nobody);
  });

  it('is not asked with a certificate of ours that has expired, or half of one', async () => {
    expect(await finding(at(1, 'old'))).toMatchObject({
      usable: false,
      finding: expect.stringMatching(/cert\.pem has expired/),
    });
    expect(await finding(at(1, 'stranger'))).toMatchObject({ usable: false });
    expect(await finding(tlsHost('tcp://127.0.0.1:1', '/nowhere'))).toMatchObject({
      usable: false,
      finding: expect.stringContaining('no ca.pem'),
    });
  });

  it('that speaks no TLS, or nothing, or nothing after that, is told apart and in time', async () => {
    await using plain = await listening(createServer((socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    await using mute = await listening(createServer(() => {}));
    await using late = await listening(createTlsServer({ ...shows('engine') }, () => {}));
    const [one, two, three] = await Promise.all([plain, mute, late].map(({ port }) => finding(at(port))));
    expect(one).toMatchObject({
      usable: false,
      finding: expect.stringContaining('no TLS is spoken there'),
      isInTime: true,
    });
    expect(two).toMatchObject({ usable: false, finding: expect.stringContaining('does not answer'), isInTime: true });
    expect(three).toMatchObject({ usable: false, finding: expect.stringContaining('does not answer'), isInTime: true });
    expect(await finding(at(await freePort()))).toMatchObject({
      usable: false,
      finding: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, absence);

  suite.describe('an engine over TLS', () => {
    suite.it('has sandboxes in a volume of its own, and streams that end on one side alone', async () => {
      await using over = await EngineOverTls.start();
      await using sandboxes = await Sandboxes.over(await over.provider(), over.directory);
      const runtime = await sandboxes.create();
      await using counted = await runtime.spawn({ argv: ['sh', '-c', 'wc -c; echo after >&2'], stdin: 'pipe' });
      for (let sent = 0; sent < MUCH; sent += 65_536) await counted.write(new Uint8Array(65_536));
      await counted.closeStdin();
      expect(await collected(counted)).toMatchObject({ exit: { code: 0 }, stdout: `${MUCH}\n`, stderr: 'after\n' });
      const { checks } = await sandboxes.provider.probe();
      expect(checks[0]?.finding).toContain(`at tcp://127.0.0.1:${over.port}`);
    });

    suite.it('that takes another client alone says so, and makes nothing', async () => {
      await using over = await EngineOverTls.start();
      expect(await finding(over.host('other'))).toMatchObject({
        usable: false,
        finding: expect.stringContaining('does not take the certificate of this client'),
        remedy: expect.stringContaining('cert.pem'),
        isInTime: true,
      });
      expect(await over.engine.client.listContainers({ all: true })).toEqual([]);
    });

    suite.it('that stops, or is killed, in the middle ends what runs, in time; nothing is lost', async () => {
      await using over = await EngineOverTls.start();
      await using sandboxes = await Sandboxes.over(await over.provider(), over.directory);
      const runtime = await sandboxes.create();
      expect(await collected(await runtime.spawn({ argv: ['sh', '-c', 'echo kept >kept'] }))).toMatchObject({
        exit: { code: 0 },
      });
      const process = await runtime.spawn({ argv: ['sleep', '1000'] });
      const began = performance.now();
      await over.engine.signal('KILL');
      await expect(process.exit).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await expect(runtime.spawn({ argv: ['true'] })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(performance.now() - began).toBeLessThan(PATIENCE_MS);
      await over.engine.restart();
      expect(await collected(await runtime.spawn({ argv: ['cat', 'kept'] }))).toMatchObject({ stdout: 'kept\n' });
      await over.engine.signal('STOP');
      const stopped = performance.now();
      await expect(runtime.spawn({ argv: ['true'], stdin: 'pipe' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(performance.now() - stopped).toBeLessThan(SILENCE_MS);
      await over.engine.signal('CONT');
    });
  });
}
