import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Fixture } from '@litterbox/testing';
import { expect, test } from '@jest/globals';
import { endpointFixture, PLACEHOLDER, SECRET } from './endpoint-fixture.ts';

interface CompanyProxy extends Fixture {
  readonly address: string;
  /** Heads and all that came behind them. */
  readonly heard: () => string;
  readonly connections: () => number;
}

/** A company's proxy on loopback, that says one thing to all. After a 200 it leads to where it was asked for. */
async function companyProxy(answer: string): Promise<CompanyProxy> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket) => {
    sockets.add(socket);
    return socket.on('error', () => {});
  };
  let heard = '';
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    kept(socket).on('data', (bytes) => (heard += bytes.toString('latin1')));
    socket.once('data', (head) => {
      socket.write(answer);
      const [, port = ''] = /^CONNECT \S+:(\d+) /.exec(head.toString('latin1')) ?? [];
      if (!answer.startsWith('HTTP/1.1 200')) return void (answer !== '' && socket.end());
      const behind = kept(connect({ port: Number(port), host: '127.0.0.1' }));
      socket.pipe(behind).pipe(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fixture = new Fixture();
  fixture.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(fixture, { address: `127.0.0.1:${port}`, heard: () => heard, connections: () => connections });
}

const OPEN = 'HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\n\r\n';

test('AX170: a proxy of the person is asked by name, sees no secret, and is used again', async () => {
  await using proxy = await companyProxy(OPEN);
  await using fixture = await endpointFixture({ environment: { HTTPS_PROXY: `http://ada:pass@${proxy.address}` } });
  for (const path of ['/v1/models', '/v1/messages'])
    expect(await (await fetch(`${fixture.url}${path}`, { headers: { 'x-api-key': PLACEHOLDER } })).text()).toBe(
      'heard',
    );
  expect(fixture.heard.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill(`Bearer ${SECRET}`));
  expect(proxy.connections()).toBe(1);
  const [head = ''] = proxy.heard().split('\r\n\r\n', 1);
  expect(head.split('\r\n')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^CONNECT localhost:\d+ HTTP\/1\.1$/),
      `proxy-authorization: Basic ${Buffer.from('ada:pass').toString('base64')}`,
    ]),
  );
  expect(proxy.heard()).not.toContain(SECRET);
});

test('a server whose certificate is not its own gets nothing by a proxy either, and NO_PROXY passes the proxy by', async () => {
  await using proxy = await companyProxy(OPEN);
  const environment = { HTTPS_PROXY: proxy.address };
  await using stranger = await endpointFixture({ environment, isStranger: true });
  expect((await fetch(`${stranger.url}/v1/models`)).status).toBe(502);
  expect([stranger.heard, proxy.connections()]).toEqual([[], 1]);
  await using fixture = await endpointFixture({ environment: { ...environment, NO_PROXY: 'localhost' } });
  expect((await fetch(`${fixture.url}/v1/models`)).status).toBe(200);
  expect(proxy.connections()).toBe(1);
});

test.each([
  ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'answered 407 for localhost'],
  ['HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\n\r\n', 'answered 302 for localhost'],
  ['SSH-2.0-x\r\n\r\n', 'does not answer'],
  ['HTTP/1.1 407', 'does not answer'],
])('a proxy that says %j is named, and nothing goes around it', async (answer, said) => {
  await using proxy = await companyProxy(answer);
  await using fixture = await endpointFixture({ environment: { HTTPS_PROXY: `http://ada:pass@${proxy.address}` } });
  const response = await fetch(`${fixture.url}/v1/models`);
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({
    status: 502,
    text: expect.stringContaining(`the proxy that this machine uses (${proxy.address}) ${said}`),
  });
  expect(text).not.toMatch(/pass|ada/);
  expect(fixture.heard).toEqual([]);
  expect(fixture.entries).toMatchObject([{ outcome: { reason: expect.stringContaining(said) } }]);
});

test('a proxy that is silent ends with the endpoint, and one of another kind is refused at once', async () => {
  await using proxy = await companyProxy('');
  await using fixture = await endpointFixture({ environment: { ALL_PROXY: proxy.address } });
  const asked = fetch(`${fixture.url}/v1/models`).then(
    ({ status }) => status,
    () => 'gone',
  );
  while (proxy.heard() === '') await new Promise((resolve) => setImmediate(resolve));
  await fixture.close();
  expect(await asked).toBe('gone');
  await expect(endpointFixture({ environment: { HTTPS_PROXY: 'socks5://127.0.0.1:1' } })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  });
});
