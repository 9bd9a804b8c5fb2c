import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ByteStream, isLitterboxError, LitterboxError } from '@litterbox/core/provider';
import { localForwarder, localHost } from '../src/index.ts';

const host = localHost();
const forwarder = localForwarder();
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function serving(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

async function forwarded(to: () => Promise<ByteStream>): Promise<number> {
  const forward = await forwarder.listen(await forwarder.free(new Set()), to);
  open.push(forward);
  return forward.port;
}

async function exchanged(port: number, request: string, address = '127.0.0.1'): Promise<string> {
  const socket = connect({ host: address, port, allowHalfOpen: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', (error: NodeJS.ErrnoException) => (text += `[${error.code}]`));
  socket.end(request, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

/** The same bytes by web streams, as a connection of another provider has them. */
async function plain(port: number): Promise<ByteStream> {
  const { readable, writable, [Symbol.asyncDispose]: dispose } = await host.connect({ host: '127.0.0.1', port });
  return { readable, writable, [Symbol.asyncDispose]: dispose };
}

describe('the forwarder', () => {
  for (const [kind, reach] of [
    ['sockets', (port: number) => host.connect({ host: '127.0.0.1', port })],
    ['streams', plain],
  ] as const)
    it(`carries both ways over ${kind}, each direction ending by itself, on IPv4 and IPv6`, async () => {
      const port = await serving((socket) => {
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        socket.on('end', () => socket.end(`got ${text.length}: ${text.slice(0, 5)}`, 'latin1'));
      });
      const at = await forwarded(() => reach(port));
      expect(await exchanged(at, 'hello')).toBe('got 5: hello');
      expect(await exchanged(at, 'hello', '::1')).toBe('got 5: hello');
      expect(await exchanged(at, 'x'.repeat(3_000_000))).toBe('got 3000000: xxxxx');
    });

  it('resets where nothing can be reached, and goes on', async () => {
    let isThere = false;
    const port = await serving((socket) => socket.end('here'));
    const at = await forwarded(async () => {
      if (isThere) return await host.connect({ host: '127.0.0.1', port });
      throw new LitterboxError('UNAVAILABLE', 'no', { operation: 'test' });
    });
    expect(await exchanged(at, '')).toBe('[ECONNRESET]');
    isThere = true;
    expect(await exchanged(at, '')).toBe('here');
  });

  it('holds a sender back that nobody reads from', async () => {
    let sent = 0;
    const port = await serving((socket) => {
      const chunk = Buffer.alloc(2 ** 16);
      const more = () => {
        while (sent < 2 ** 28) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once('drain', more);
        }
      };
      more();
    });
    const at = await forwarded(() => host.connect({ host: '127.0.0.1', port }));
    const lazy = connect(at, '127.0.0.1').pause();
    await once(lazy, 'connect');
    // Until nothing moves any more: what is underway is what the kernel and two sockets hold.
    for (let before = -1; before !== sent; ) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(2 ** 26);
    lazy.destroy();
  });

  it('is refused a number that another program has, on either address, and listens nowhere else', async () => {
    const at = await forwarded(() => Promise.reject(new Error('never')));
    const refused = await forwarder
      .listen(at, () => Promise.reject(new Error('never')))
      .catch((error: unknown) => error);
    expect(isLitterboxError(refused, 'PORT_TAKEN')).toBe(true);
    const six = createServer().listen({ host: '::1', port: 0, ipv6Only: true });
    await once(six, 'listening');
    const { port } = six.address() as AddressInfo;
    const half = await forwarder
      .listen(port, () => Promise.reject(new Error('never')))
      .catch((error: unknown) => error);
    expect(isLitterboxError(half, 'PORT_TAKEN')).toBe(true);
    six.close();
    expect(await exchanged(at, '', '127.0.0.2')).toBe('[ECONNREFUSED]');
  });

  it('ends connections when it is closed, and gives the number back', async () => {
    const port = await serving(() => {});
    const forward = await forwarder.listen(await forwarder.free(new Set()), () =>
      host.connect({ host: '127.0.0.1', port }),
    );
    const visitor = connect(forward.port, '127.0.0.1');
    visitor.on('error', () => {});
    await once(visitor, 'connect');
    const closed = new Promise((resolve) => visitor.once('close', resolve));
    await forward[Symbol.asyncDispose]();
    await closed;
    open.push(await forwarder.listen(forward.port, () => Promise.reject(new Error('never'))));
  });
});
