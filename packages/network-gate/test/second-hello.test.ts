import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { clientHelloOf } from './client-hello-of.ts';
import { type GateFixture, gateFixture } from './gate-fixture.ts';

const LISTED = { allow: ['allowed.test'] };
const ASKED = 'CONNECT allowed.test:443 HTTP/1.1\r\n\r\n';
const TLS13 = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const;
/** A share for the first, which the server does not want. */
const FIRST = { ...TLS13, ecdhCurve: 'X25519:P-384' };
const SECOND = { ...TLS13, ecdhCurve: 'P-384' };
const CHANGE_OF_CIPHERS = Buffer.from([20, 3, 3, 0, 1, 1]);

/** A key and a certificate for a name. */
function certificate(name: string): { readonly keyPath: string; readonly certPath: string } & Disposable {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-gate-'));
  const [keyPath, certPath] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', `/CN=${name}`];
  execFileSync('openssl', ['req', '-x509', ...made, '-keyout', keyPath, '-out', certPath], { stdio: 'ignore' });
  return { keyPath, certPath, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

/** OpenSSL's own server, which wants another share than the first hello has, and what it said. */
async function opensslServer(): Promise<{ readonly port: number; said(): string } & AsyncDisposable> {
  const [one, other] = [certificate('allowed.test'), certificate('evil.test')];
  const args = ['s_server', '-accept', '127.0.0.1:0', '-groups', 'P-384', '-tls1_3', '-servername', 'evil.test'];
  const keys = ['-cert', one.certPath, '-key', one.keyPath, '-cert2', other.certPath, '-key2', other.keyPath];
  // Unbuffered: what it says is read while it runs.
  const child = spawn('stdbuf', ['-o0', 'openssl', ...args, ...keys], { stdio: ['pipe', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => (text += more));
  const closed = once(child, 'close');
  while (!/ACCEPT 127\.0\.0\.1:\d+/.test(text))
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
  return {
    port: Number(/ACCEPT 127\.0\.0\.1:(\d+)/.exec(text)?.[1]),
    said: () => text,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
      one[Symbol.dispose]();
      other[Symbol.dispose]();
    },
  };
}

/** A gate whose only server listens there. */
async function gateTo(port: number): Promise<GateFixture> {
  return await gateFixture(LISTED, {
    reach: {
      dial: async () => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
        await once(socket, 'connect');
        return socket;
      },
    },
  });
}

/** Resolves when it holds. No clock: what is waited for comes, or the test's own limit does. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** Says one hello, and the other when the server has answered; or both at once. */
async function sayBoth(socket: Socket, [first, second]: readonly Buffer[], isEarly: boolean): Promise<void> {
  socket.on('error', () => {});
  if (!first || !second) throw new Error('There are two.');
  socket.write(first);
  if (!isEarly) await once(socket, 'data');
  socket.resume().write(second);
}

const hellos = async (second: string) => [
  await clientHelloOf({ ...FIRST, servername: 'allowed.test' }),
  await clientHelloOf({ ...SECOND, servername: second }),
];

describe('a server that asks for a second hello', () => {
  it.each([false, true])('AX29: is not led to another name by it (sent before it asked: %s)', async (isEarly) => {
    await using server = await opensslServer();
    const pieces = await hellos('evil.test');
    // Positive control: without a gate it goes by the second.
    const direct = connect({ port: server.port, host: '127.0.0.1' });
    await sayBoth(direct, pieces, isEarly);
    await until(() => server.said().includes('"evil.test"'));
    direct.destroy();
    const before = server.said().length;
    await using fixture = await gateTo(server.port);
    const socket = await fixture.open();
    socket.write(ASKED);
    await once(socket, 'data');
    await sayBoth(socket, pieces, isEarly);
    await until(() => fixture.reports.length === 2);
    socket.destroy();
    expect(fixture.reports[1]).toMatchObject({ type: 'closed', reason: expect.stringContaining('second TLS hello') });
    expect(server.said().slice(before)).toContain('"allowed.test"');
    expect(server.said().slice(before)).not.toContain('evil.test');
  });

  it.each([
    ['at once', (hello: Buffer) => [hello]],
    [
      'after a change of ciphers and early data',
      (hello: Buffer) => [Buffer.concat([CHANGE_OF_CIPHERS, Buffer.from([23, 3, 3, 0, 3, 1, 2, 3]), hello])],
    ],
    ['byte by byte', (hello: Buffer) => Array.from(hello, (byte) => Buffer.of(byte))],
  ])('gets it when it names the same, %s', async (_how, cut) => {
    // Only asks, and keeps what follows.
    const got: Buffer[] = [];
    const asking = createServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', (bytes: Buffer) => {
          if (got.push(bytes) === 1) socket.write(retryRequest());
        });
    }).listen(0, '127.0.0.1');
    await once(asking, 'listening');
    const [first, second] = (await hellos('allowed.test')) as [Buffer, Buffer];
    await using fixture = await gateTo((asking.address() as AddressInfo).port);
    const socket = await fixture.open();
    socket.write(ASKED);
    await once(socket, 'data');
    socket.write(first);
    await once(socket, 'data');
    const rest = cut(second);
    for (const piece of rest) socket.write(piece);
    socket.write(Buffer.from('and more'));
    const whole = Buffer.concat([first, ...rest, Buffer.from('and more')]);
    await until(() => Buffer.concat(got).length >= whole.length);
    expect(Buffer.concat(got).equals(whole)).toBe(true);
    socket.destroy();
    asking.close();
  });

  it('ends up in a connection, with a client that knows nothing of it', async () => {
    using files = certificate('allowed.test');
    const server = createTlsServer(
      { ...SECOND, key: readFileSync(files.keyPath), cert: readFileSync(files.certPath) },
      (socket: TLSSocket) => void socket.on('error', () => {}).end('served'),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using fixture = await gateTo((server.address() as AddressInfo).port);
    const socket = await fixture.open();
    socket.write(ASKED);
    await once(socket, 'data');
    const client = connectTls({ ...FIRST, socket, servername: 'allowed.test', rejectUnauthorized: false });
    const [served] = (await once(client, 'data')) as [Buffer];
    expect(served.toString()).toBe('served');
    client.destroy();
    server.close();
  });
});

/** As RFC 8446 has it, for P-384. */
function retryRequest(): Buffer {
  const random = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    random,
    Buffer.from([0, 0x13, 1, 0, 0, 12, 0, 43, 0, 2, 3, 4, 0, 51, 0, 2, 0, 24]),
  ]);
  return Buffer.concat([Buffer.from([22, 3, 3, 0, body.length + 4, 2, 0, 0, body.length]), body]);
}
