import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as requestOf } from 'node:http';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { endpointFixture, PLACEHOLDER, SECRET } from './endpoint-fixture.ts';

const head = (port: number, first: string, ...lines: readonly string[]) =>
  [`${first} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: close', ...lines, '', ''].join('\r\n');

test('the server sees the secret alone', async () => {
  await using fixture = await endpointFixture();
  const response = await fetch(`${fixture.url}/v1/messages?beta=true`, {
    method: 'POST',
    body: '{"model":"x"}',
    headers: {
      authorization: `Bearer ${PLACEHOLDER}`,
      'x-api-key': 'own key of an attacker',
      'x-goog-api-key': 'own',
      cookie: 'session=own',
      'proxy-authorization': 'own',
      'private-token': 'own',
      'x-amz-security-token': 'own',
      'x-http-method-override': 'DELETE',
      'x-forwarded-host': 'evil.example',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
  });
  expect({ status: response.status, body: await response.text() }).toEqual({ status: 200, body: 'heard' });
  const [heard] = fixture.heard;
  expect(heard).toMatchObject({ method: 'POST', url: '/v1/messages?beta=true', body: '{"model":"x"}' });
  expect(heard?.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
    'content-length': '13',
    'accept-encoding': 'identity',
  });
  expect(heard?.headers.host).toMatch(/^localhost:\d+$/);
  expect(JSON.stringify(heard?.rawHeaders)).not.toMatch(/own|placeholder|DELETE|evil/);
  expect(fixture.entries).toEqual([
    { method: 'POST', path: '/v1/messages', outcome: { status: 200, sentBytes: 13, receivedBytes: 5 } },
  ]);
});

test('a caller that does not log in at all is carried too', async () => {
  await using fixture = await endpointFixture({ policy: { header: { name: 'x-api-key', value: '{secret}' } } });
  expect((await fetch(`${fixture.url}/exact`)).status).toBe(200);
  expect(fixture.heard[0]?.headers['x-api-key']).toBe(SECRET);
});

test('what Claude Code asks first is answered here', async () => {
  await using fixture = await endpointFixture();
  expect((await fetch(`${fixture.url}/api/hello`, { method: 'HEAD' })).status).toBe(200);
  expect(fixture.heard).toEqual([]);
});

test('a packed body goes through as it is', async () => {
  const packed = zstdCompressSync(randomBytes(100_000));
  await using fixture = await endpointFixture();
  const response = await fetch(`${fixture.url}/v1/responses`, {
    method: 'POST',
    body: packed,
    headers: { 'content-encoding': 'zstd' },
  });
  expect(response.status).toBe(200);
  expect(fixture.heard[0]?.body).toBe(packed.toString('latin1'));
  expect(fixture.heard[0]?.headers['content-encoding']).toBe('zstd');
});

test('an answer comes word by word, not at its end', async () => {
  const { promise: readOn, resolve: goOn } = Promise.withResolvers<void>();
  await using fixture = await endpointFixture({
    serve: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      void readOn.then(() => response.end('data: two\n\n'));
    },
  });
  const response = await fetch(`${fixture.url}/v1/messages`, { method: 'POST', body: '' });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read()).toMatchObject({ value: 'data: one\n\n' });
  goOn(); // the server waits until the first word was read
  expect(await reader?.read()).toMatchObject({ value: 'data: two\n\n' });
});

test('who reads slowly keeps the server waiting, and memory free', async () => {
  let written = 0;
  const size = 64 * 2 ** 20;
  const chunk = Buffer.alloc(2 ** 20);
  const { promise: stuck, resolve: isStuck } = Promise.withResolvers<void>();
  await using fixture = await endpointFixture({
    serve: (_request, response) => {
      const more = () => {
        while (written < size) {
          written += chunk.length;
          if (!response.write(chunk)) {
            if (written > 2 ** 20) isStuck();
            return void response.once('drain', more);
          }
        }
        response.end();
      };
      more();
    },
  });
  const request = requestOf(`${fixture.url}/v1/files`);
  request.end();
  const [response] = await once(request, 'response');
  response.pause();
  await stuck;
  let before = -1;
  // Until a whole turn brings no more: whatever lies between is full then.
  for (let still = 0; still < 20; still = written === before ? still + 1 : 0) {
    before = written;
    await new Promise((resolve) => setImmediate(resolve));
    await fetch(`${fixture.url}/api/hello`, { method: 'HEAD' });
  }
  expect(written).toBeLessThan(size / 2);
  let read = 0;
  for await (const bytes of response) read += bytes.length;
  expect(read).toBe(size);
});

test('a chunked body and one of a known length reach the server as such', async () => {
  await using fixture = await endpointFixture();
  const answer = await fixture.say(
    head(fixture.port, 'POST /v1/a', 'Transfer-Encoding: chunked'),
    '3\r\nabc\r\n',
    '0\r\nX-Trailer: t\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(fixture.heard[0]).toMatchObject({ body: 'abc', headers: { 'transfer-encoding': 'chunked' } });
  expect(fixture.heard[0]?.headers).not.toHaveProperty('content-length');
  await fixture.say(head(fixture.port, 'POST /v1/b', 'Content-Length: 0'));
  await fixture.say(head(fixture.port, 'POST /v1/c'));
  expect(fixture.heard.slice(1).map(({ headers }) => headers['content-length'])).toEqual(['0', '0']);
});

test('connections are used again, inside and outside', async () => {
  const ports = new Set<number | undefined>();
  await using fixture = await endpointFixture({
    serve: (request, response) => {
      ports.add(request.socket.remotePort);
      response.end('x');
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const insides = new Set<number | undefined>();
  for (let turn = 0; turn < 3; turn += 1) {
    const request = requestOf(`${fixture.url}/v1/x`, { agent });
    request.end();
    const [response] = await once(request, 'response');
    insides.add(request.socket?.localPort);
    response.resume();
    await once(response, 'end');
    await new Promise((resolve) => setImmediate(resolve));
  }
  agent.destroy();
  expect({ outside: ports.size, inside: insides.size }).toEqual({ outside: 1, inside: 1 });
});

test('a WebSocket is carried both ways', async () => {
  const seen: Record<string, unknown> = {};
  await using fixture = await endpointFixture({
    upgrade: (request, socket) => {
      Object.assign(seen, request.headers);
      const accept = createHash('sha1').update(
        `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
      );
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest('base64')}\r\nSec-WebSocket-Protocol: realtime\r\n\r\n`,
      );
      socket.pipe(socket);
    },
  });
  const socket = await fixture.open();
  socket.write(
    [
      'GET /v1/responses HTTP/1.1',
      `Host: 127.0.0.1:${fixture.port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Extensions: permessage-deflate',
      'Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.own',
      'Authorization: Bearer own',
      '',
      'early',
    ].join('\r\n'),
  );
  let heard = '';
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    heard += bytes.toString('latin1');
    if (heard.endsWith('\r\n\r\nearly')) socket.write('-late');
    if (heard.endsWith('early-late')) break;
  }
  expect(heard).toMatch(/^HTTP\/1\.1 101 /);
  expect(heard).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(seen).toMatchObject({ authorization: `Bearer ${SECRET}`, 'sec-websocket-protocol': 'realtime' });
  expect(seen).not.toHaveProperty('sec-websocket-extensions');
});

test('a server that wants no WebSocket says so itself, and anything else than a WebSocket is refused', async () => {
  await using fixture = await endpointFixture({
    serve: (_request, response) => response.writeHead(426, { 'x-why': 'none' }).end('no'),
  });
  const socketOf = ['Connection: Upgrade', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'];
  const first = `GET /v1/x HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\n`;
  const refused = await fixture.say(`${first}${socketOf.join('\r\n')}\r\nUpgrade: websocket\r\n\r\n`);
  expect(refused).toMatch(/^HTTP\/1\.1 426 [^]*x-why: none/);
  const other = await fixture.say(
    `${first}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n`,
  );
  expect(other).toMatch(/^HTTP\/1\.1 400 [^]*only a WebSocket/);
});

test('a redirect elsewhere is refused', async () => {
  const near = { 'next?page=2': '/next?page=2', '/base/v1/b': '/v1/b', '/base/v1/../v1/c': '/v1/c' };
  const far = [
    'https://evil.example/base/v1/b',
    '//evil.example/base/',
    'https://localhost:1/base/',
    'http://localhost/base/',
    '/outside',
    '/base/../outside',
    '/based/v1',
    'https://user:word@localhost/base/',
    'javascript:alert(1)',
  ];
  const locations = [...Object.keys(near), ...far];
  await using fixture = await endpointFixture({
    path: '/base',
    serve: (_request, response) => response.writeHead(307, { location: locations.shift() }).end(),
  });
  const answers: string[] = [];
  while (locations.length > 0) answers.push(await fixture.say(head(fixture.port, 'GET /v1/a')));
  const found = answers.map((answer) => /^location: (.*)\r$/m.exec(answer)?.[1] ?? answer.slice(9, 12));
  expect(found).toEqual([...Object.values(near), ...far.map(() => '502')]);
  expect(fixture.heard.map(({ url }) => url)).toEqual(found.map(() => '/base/v1/a'));
});

test('an answer that holds the secret is kept back', async () => {
  const half = SECRET.length / 2;
  const ways = [
    (response: import('node:http').ServerResponse) => response.setHeader('x-echo', `Bearer ${SECRET}`).end('x'),
    (response: import('node:http').ServerResponse) => response.setHeader(`x-${SECRET}`, 'x').end('x'),
    (response: import('node:http').ServerResponse) => response.end(`{"error":"the key ${SECRET} is wrong"}`),
    (response: import('node:http').ServerResponse) => {
      // Two records of TLS, the second after the first was written.
      const rest = () => setImmediate(() => response.end(`${SECRET.slice(half)} after`));
      response.write(`before ${SECRET.slice(0, half)}`, rest);
    },
  ];
  await using fixture = await endpointFixture({ serve: (_request, response) => ways.shift()?.(response) });
  for (let turn = 0; turn < 4; turn += 1) {
    const answer = await fixture.say(head(fixture.port, 'GET /v1/echo'));
    expect(answer).not.toContain(SECRET.slice(0, half));
  }
  expect(fixture.entries.map(({ outcome }) => outcome.reason)).toEqual(
    Array.from({ length: 4 }, () => expect.stringContaining('with the secret')),
  );
});

test('a body that only begins like the secret comes whole', async () => {
  const text = `${SECRET.slice(0, -1)}! ${SECRET.slice(0, 5)}`;
  await using fixture = await endpointFixture({
    serve: (_request, response) => {
      for (const letter of text) response.write(letter);
      response.end();
    },
  });
  expect(await (await fetch(`${fixture.url}/v1/x`)).text()).toBe(text);
});

test('cookies and what is between two servers do not come in', async () => {
  await using fixture = await endpointFixture({
    serve: (_request, response) =>
      response
        .writeHead(200, { 'set-cookie': 'a=b', 'alt-svc': 'h3=":443"', 'proxy-authenticate': 'Basic', 'x-limit': '7' })
        .end('x'),
  });
  const answer = await fixture.say(head(fixture.port, 'GET /v1/x'));
  expect(answer).toContain('x-limit: 7');
  expect(answer).not.toMatch(/set-cookie|alt-svc|proxy-authenticate/i);
});

test('a server whose certificate nobody vouches for gets nothing, and no error tells the secret', async () => {
  await using fixture = await endpointFixture({ isStranger: true });
  const answer = await fixture.say(head(fixture.port, 'GET /v1/x'));
  expect(answer).toMatch(/^HTTP\/1\.1 502 [^]*DEPTH_ZERO_SELF_SIGNED_CERT/);
  expect(fixture.heard).toEqual([]);
  expect(answer + JSON.stringify(fixture.entries)).not.toContain(SECRET);
});

test('a secret that cannot be read, and books that cannot be written, let nothing out', async () => {
  await using fixture = await endpointFixture({
    readSecret: () => Promise.reject(new Error(`no ${SECRET}`)),
  });
  const answer = await fixture.say(head(fixture.port, 'GET /v1/x'));
  expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*the secret MODEL_KEY/);
  await using other = await endpointFixture({ begin: () => Promise.reject(new Error('full')) });
  expect(await other.say(head(other.port, 'GET /v1/x'))).toMatch(/^HTTP\/1\.1 503 [^]*written down/);
  expect([...fixture.heard, ...other.heard, answer.match(SECRET)]).toEqual([null]);
  expect(other.reads()).toBe(0);
});

test('who sends no whole head, and who goes away, is let go', async () => {
  await using fixture = await endpointFixture({ headMs: 50 });
  expect(await fixture.say('GET /v1/x HT')).toBe('');
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  await using waiting = await endpointFixture({
    serve: (request) => void request.socket.once('close', () => resolve()),
  });
  const socket = await waiting.open();
  socket.write(head(waiting.port, 'GET /v1/x'));
  while (waiting.heard.length === 0) await new Promise((next) => setImmediate(next));
  socket.destroy();
  await gone; // the server is told
});

test('both ways silent is an end', async () => {
  await using fixture = await endpointFixture({ idleMs: 50, serve: () => {} });
  expect(await fixture.say(head(fixture.port, 'GET /v1/x'))).toMatch(/^HTTP\/1\.1 504 /);
});

test('closing ends what is under way', async () => {
  await using fixture = await endpointFixture({ serve: (_request, response) => void response.write('x') });
  const answer = fixture.say(head(fixture.port, 'GET /v1/x'));
  while (fixture.heard.length === 0) await new Promise((next) => setImmediate(next));
  await fixture.close();
  await answer;
  expect(fixture.entries).toMatchObject([{ outcome: { reason: expect.any(String) } }]);
});

test('AX158: a spent budget ends in an error that agents show, and tokens of answers are written down', async () => {
  let isSpent = false;
  await using fixture = await endpointFixture({
    begin: async () => (isSpent ? 'spent' : undefined),
    serve: (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('data: {"type":"message_delta","usage":{"input_tokens":7,"output_tokens":20}}\n\n'),
  });
  expect((await fetch(`${fixture.url}/v1/messages`)).status).toBe(200);
  await fixture.close();
  expect(fixture.entries).toMatchObject([{ outcome: { status: 200, tokens: { input: 7, output: 20 } } }]);
  await using other = await endpointFixture({ begin: async () => (isSpent ? 'spent' : undefined) });
  isSpent = true;
  const refused = await fetch(`${other.url}/v1/messages`, { method: 'POST', body: '{}' });
  expect(refused.status).toBe(402);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect(await refused.json()).toMatchObject({
    type: 'error',
    error: { type: 'billing_error', code: 'insufficient_quota', message: expect.stringContaining('budget') },
  });
  expect(other.heard).toEqual([]);
});

test('FC-460: who goes away before the server has counted is charged by the length of the answer', async () => {
  await using fixture = await endpointFixture({
    serve: (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(`data: {"choices":[{"delta":{"content":"${'word '.repeat(80)}"}}]}\n\n`),
  });
  const leaving = new AbortController();
  const answer = await fetch(`${fixture.url}/v1/chat/completions`, {
    method: 'POST',
    body: 'x'.repeat(200),
    signal: leaving.signal,
  });
  await answer.body?.getReader().read();
  leaving.abort();
  await fixture.close();
  expect(fixture.entries).toMatchObject([{ outcome: { tokens: { input: 50, output: 100, isEstimate: true } } }]);
});

test('refuses a WebSocket where tokens are bounded', async () => {
  await using fixture = await endpointFixture({ policy: { budget: { tokens: 5 } } });
  const asked = `GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  expect(await fixture.say(asked)).toMatch(/^HTTP\/1\.1 400 [^]*budget of tokens/);
  expect(fixture.heard).toEqual([]);
});
