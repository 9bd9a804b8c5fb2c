import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { allOf, gateFixture, TLS } from './gate-fixture.ts';

const KEY = Buffer.alloc(32, 7);
const LISTED = { allow: ['example.org', '*.example.net'] };

/** A company's proxy on loopback: what it was asked for, and a server behind it that sends back what comes. */
class CompanyProxy implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #echo: Server = createTlsServer({ ...TLS, pskCallback: () => KEY } as never, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  readonly #server: Server;

  constructor(answer: string) {
    this.#server = createServer((socket) => {
      this.#keep(socket).once('data', (head) => {
        this.asked.push(head.toString('latin1'));
        socket.write(answer);
        if (!answer.startsWith('HTTP/1.1 200')) return void socket.end();
        const behind = this.#keep(connect({ port: portOf(this.#echo), host: '127.0.0.1' }));
        socket.pipe(behind).pipe(socket);
      });
    });
    this.#echo.on('connection', (socket: Socket) => this.#keep(socket));
  }

  async listen(): Promise<this> {
    for (const server of [this.#server, this.#echo]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return this;
  }

  get address(): string {
    return `127.0.0.1:${portOf(this.#server)}`;
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    return socket.on('error', () => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([this.#server, this.#echo].map((server) => new Promise((done) => server.close(done))));
  }
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe("a proxy of the person's", () => {
  it('FC-20: is asked for what the list allows, by name, and nothing is looked up', async () => {
    await using proxy = await new CompanyProxy('HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\n\r\n').listen();
    const environment = { HTTPS_PROXY: `http://ada:secret@${proxy.address}`, NO_PROXY: 'example.net' };
    await using fixture = await gateFixture(LISTED, { environment });
    const secure = await fixture.secure('example.org');
    secure.write('through it');
    const [echo] = (await once(secure, 'data')) as [Buffer];
    expect(echo.toString()).toBe('through it');
    secure.destroy();
    const credentials = Buffer.from('ada:secret').toString('base64');
    expect(proxy.asked).toEqual([
      `CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`,
    ]);
    expect(fixture.looked).toEqual([]);
    expect(fixture.reports[0]).toEqual({
      type: 'opened',
      host: 'example.org',
      port: 443,
      rule: 'example.org',
      address: '127.0.0.1',
      proxy: proxy.address,
    });
    // What is not on the list never gets there, and what the person leaves out goes its own way.
    expect(await fixture.ask('CONNECT other.org:443 HTTP/1.1\r\n\r\n')).toContain('403');
    (await fixture.secure('a.example.net')).destroy();
    expect(proxy.asked).toHaveLength(1);
    expect(fixture.looked).toEqual(['a.example.net']);
  });

  it('that says no, nonsense or nothing is named in the refusal', async () => {
    for (const [answer, said] of [
      ['HTTP/1.1 503 stub\r\n\r\n', 'answered 503 for example.org'],
      ['SSH-2.0-x\r\n\r\n', 'answered no HTTP for example.org'],
      ['HTTP/1.1 407', 'does not answer'],
      ['x'.repeat(100_000), 'does not answer'],
    ] as const) {
      await using proxy = await new CompanyProxy(answer).listen();
      await using fixture = await gateFixture(LISTED, { environment: { HTTPS_PROXY: `http://${proxy.address}` } });
      const told = await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n');
      expect(told).toContain('HTTP/1.1 502');
      expect(told).toContain(said);
      expect(told).toContain(proxy.address);
      expect(fixture.reports).toEqual([expect.objectContaining({ type: 'refused', host: 'example.org' })]);
    }
  });

  it('that is not there is named in the refusal, and one of another kind refused at once', async () => {
    const gone = await new CompanyProxy('').listen();
    const { address } = gone;
    await gone[Symbol.asyncDispose]();
    await using fixture = await gateFixture(LISTED, { environment: { HTTPS_PROXY: address } });
    expect(await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n')).toContain(`(${address}) does not answer`);
    const other = gateFixture(LISTED, { environment: { HTTPS_PROXY: 'socks5://127.0.0.1:1' } });
    await expect(other).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('does not get around what a TLS hello has to name', async () => {
    await using proxy = await new CompanyProxy('HTTP/1.1 200 OK\r\n\r\n').listen();
    await using fixture = await gateFixture(LISTED, { environment: { HTTPS_PROXY: `http://${proxy.address}` } });
    await expect(fixture.secure('example.org', 'evil.org').then(allOf)).rejects.toThrow();
    expect(fixture.reports).toEqual([
      expect.objectContaining({ type: 'refused', reason: expect.stringContaining('names another server') }),
    ]);
  });
});
