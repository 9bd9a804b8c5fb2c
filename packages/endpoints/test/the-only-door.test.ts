import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { endpointFixture, PLACEHOLDER, SECRET, type EndpointFixture } from './endpoint-fixture.ts';

const GOOD = 'HTTP/1.1 200 ';

/** Each of the requests is answered without one reaching the server; the good one in between is heard, so that the door is open. */
async function refusesAll(
  fixture: EndpointFixture,
  requests: readonly (string | Buffer)[],
): Promise<readonly string[]> {
  const good = `GET /v1/good HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\nConnection: close\r\n\r\n`;
  const answers: string[] = [];
  const carried: string[] = [];
  for (const request of requests) {
    answers.push(await fixture.say(request));
    if (fixture.heard.splice(0).length > 0) carried.push(String(request));
  }
  expect(carried).toEqual([]);
  expect(await fixture.say(good)).toContain(GOOD);
  expect(fixture.heard.splice(0)).toHaveLength(1);
  return answers;
}

// Node's parser takes blanks around the target for none; the server is asked anew, with its own line.
describe('requests that two servers could read differently', () => {
  test('AX133: lengths, codings, line ends', async () => {
    await using fixture = await endpointFixture({ headMs: 2_000 });
    const host = `Host: 127.0.0.1:${fixture.port}`;
    const post = (...lines: readonly string[]) => ['POST /v1/a HTTP/1.1', host, ...lines, '', ''].join('\r\n');
    const hidden = `GET /v1/hidden HTTP/1.1\r\n${host}\r\n\r\n`;
    const answers = await refusesAll(fixture, [
      post('Content-Length: 3', 'Transfer-Encoding: chunked') + `0\r\n\r\n${hidden}`,
      post('Transfer-Encoding: chunked', 'Content-Length: 3') + `0\r\n\r\n${hidden}`,
      post('Content-Length: 3', 'Content-Length: 3') + 'abc',
      post('Content-Length: 3', 'Content-Length: 0') + `abc${hidden}`,
      post('Content-Length: 3, 3') + 'abc',
      post('Content-Length: +3') + 'abc',
      post('Content-Length: 0x3') + 'abc',
      post('Content-Length: -1') + 'abc',
      post('Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
      post('Transfer-Encoding: chunked, identity') + '0\r\n\r\n',
      post('Transfer-Encoding: xchunked') + '0\r\n\r\n',
      post('Transfer-Encoding:\u000bchunked') + '0\r\n\r\n',
      post('Transfer-Encoding : chunked') + '0\r\n\r\n',
      post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
      post('X-A: b\r\n c'),
      post('X-A: b\rX-B: c'),
      post('X-A: b\nX-B: c'),
      post('X-A: b\0c'),
      post('X-A: \u00ffc'),
      post(': empty'),
      post('no colon'),
      post(`Host: evil.example`),
      `POST /v1/a HTTP/1.1\n${host}\n\n`,
      `POST /v1/a HTTP/1.1 \r\n${host}\r\n\r\n`,
      `POST /v1/a HTTP/1.0\r\n${host}\r\n\r\n`,
      `POST /v1/a HTTP/2.0\r\n${host}\r\n\r\n`,
      `POST /v1/a HTTP/0.9\r\n\r\n`,
      `POST /v1/a\r\n\r\n`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x00\x05hello',
      '\x05\x01\x00',
      `GET /v1/a HTTP/1.1\r\n\r\n`,
      `GET http://127.0.0.1:${fixture.port}/v1/a HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET https://evil.example/v1/a HTTP/1.1\r\n${host}\r\n\r\n`,
      `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n\r\n`,
      `OPTIONS * HTTP/1.1\r\n${host}\r\n\r\n`,
      `TRACE /v1/a HTTP/1.1\r\n${host}\r\n\r\n`,
      `DELETE /v1/a HTTP/1.1\r\n${host}\r\n\r\n`,
      `get /v1/a HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET /v1/a HTTP/1.1\r\n${host}\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      `GET /v1/${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET /v1/a HTTP/1.1\r\n${host}\r\n${Array.from({ length: 101 }, (_, at) => `X-${at}: a\r\n`).join('')}\r\n`,
    ]);
    expect(answers.filter((answer) => answer.startsWith(GOOD))).toEqual([]);
    expect(answers.join('')).not.toContain(SECRET);
  });

  test('AX133: a request in a body', async () => {
    await using fixture = await endpointFixture();
    const host = `Host: 127.0.0.1:${fixture.port}`;
    const hidden = `GET /v1/hidden HTTP/1.1\r\n${host}\r\n\r\n`;
    await fixture.say(
      `POST /v1/a HTTP/1.1\r\n${host}\r\nConnection: close\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    );
    await fixture.say(
      `POST /v1/b HTTP/1.1\r\n${host}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)};a=b\r\n${hidden}\r\n0\r\n\r\n`,
    );
    expect(fixture.heard.map(({ url, body }) => ({ url, body }))).toEqual([
      { url: '/v1/a', body: hidden },
      { url: '/v1/b', body: hidden },
    ]);
  });

  test('AX133: headers that Connection names', async () => {
    await using fixture = await endpointFixture();
    await fixture.say(
      `POST /v1/a HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\nConnection: close, authorization, x-a, content-length\r\nX-A: b\r\nContent-Length: 1\r\n\r\nx`,
    );
    expect(fixture.heard[0]?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'content-length': '1' });
    expect(fixture.heard[0]?.headers).not.toHaveProperty('x-a');
  });
});

test('AX134: spellings of paths and hosts', async () => {
  await using fixture = await endpointFixture({ path: '/base' });
  const host = `Host: 127.0.0.1:${fixture.port}`;
  const get = (target: string, line = host) => `GET ${target} HTTP/1.1\r\n${line}\r\n\r\n`;
  const targets = [
    '/',
    '/v1',
    '/v2/a',
    '/exact/',
    '/exact/a',
    '/EXACT',
    '/V1/a',
    '/v1/../admin',
    '/v1/./../admin',
    '/v1/..',
    '/v1/.',
    '/v1/..;/admin',
    '/v1/.;a/b',
    '/v1/%2e%2e/admin',
    '/v1/.%2e/admin',
    '/v1/%2E%2E%2Fadmin',
    '/v1/..%2fadmin',
    '/v1/%5c..%5cadmin',
    '/v1/..\\admin',
    '/v1\\..\\admin',
    '/v1/%252e%252e/admin',
    '/v1/a%00b',
    '/v1/a%0d%0aX-B:%20c',
    '/v1/a%',
    '/v1/a%zz',
    '/v1//evil.example/',
    '//evil.example/v1/a',
    '/v1/a#b',
    '/v1/a b',
    '/v1/\u00e9',
    '/v1/a?b#c',
    '/v1/a?b=\u00e9',
    '*',
    'v1/a',
    'evil.example:443',
    '@evil.example/v1/a',
  ];
  const hosts = [
    'Host: evil.example',
    'Host: 127.0.0.1',
    `Host: 127.0.0.1:${fixture.port + 1}`,
    `Host: 127.0.0.1:${fixture.port}@evil.example`,
    `Host: localhost.evil.example:${fixture.port}`,
    `Host: 0.0.0.0:${fixture.port}`,
    'Host:',
    `Host: 127.0.0.1:${fixture.port}, evil.example`,
  ];
  const requests = [...targets.map((target) => get(target)), ...hosts.map((line) => get('/v1/a', line))];
  const answers = await refusesAll(fixture, requests);
  expect(answers.filter((answer) => answer.startsWith(GOOD))).toEqual([]);
  // Positive control: these are right, and stand below the server's own path.
  for (const target of [
    '/v1/',
    '/v1/a...b',
    '/v1/a%20b',
    '/v1/a~b/.well-known',
    '/exact?a=..%2f',
    '/v1/a?page_token=x&q=a[]',
  ])
    expect(await fixture.say(`GET ${target} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`)).toContain(GOOD);
  expect(fixture.heard.every(({ url }) => url.startsWith('/base/'))).toBe(true);
});

test('AX132: no credential of the caller gets out', async () => {
  await using fixture = await endpointFixture({ policy: { header: { name: 'x-api-key', value: '{secret}' } } });
  const host = `Host: 127.0.0.1:${fixture.port}`;
  const names = [
    'Authorization',
    'X-Api-Key',
    'X-API-KEY',
    'Api-Key',
    'X-Goog-Api-Key',
    'Cookie',
    'Cookie2',
    'Proxy-Authorization',
    'X-Auth-Token',
    'X-Access-Token',
    'Private-Token',
    'Job-Token',
    'X-Amz-Security-Token',
    'X-Auth',
    'X-Secret',
    'X-Password',
    'X_Api_Key',
    'CF-Access-Client-Secret',
  ];
  const lines = names.map((name) => `${name}: callers-own`);
  await fixture.say([`GET /v1/a HTTP/1.1`, host, 'Connection: close', ...lines, '', ''].join('\r\n'));
  const [heard] = fixture.heard.splice(0);
  expect(heard?.rawHeaders.join('\n')).not.toContain('callers-own');
  expect(heard?.rawHeaders.filter((name) => name.toLowerCase() === 'x-api-key')).toHaveLength(1);
  expect(heard?.headers['x-api-key']).toBe(SECRET);
  const parameters = [
    'key',
    'KEY',
    'api_key',
    'apikey',
    'api-key',
    'access_token',
    'token',
    'k%65y',
    '+key',
    '%zz',
    'X-Amz-Signature',
  ];
  await refusesAll(
    fixture,
    parameters.flatMap((name) => [
      `GET /v1/a?${name}=own HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET /v1/a?b=c;${name}=own HTTP/1.1\r\n${host}\r\n\r\n`,
    ]),
  );
});

test('AX136: the placeholder never leaves', async () => {
  await using fixture = await endpointFixture();
  const host = `Host: 127.0.0.1:${fixture.port}`;
  const answers = await refusesAll(fixture, [
    `GET /v1/${PLACEHOLDER} HTTP/1.1\r\n${host}\r\n\r\n`,
    `GET /v1/a?q=${PLACEHOLDER} HTTP/1.1\r\n${host}\r\n\r\n`,
    `GET /v1/a HTTP/1.1\r\n${host}\r\nX-Custom: a ${PLACEHOLDER}\r\n\r\n`,
    `GET /v1/a HTTP/1.1\r\n${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: a.${PLACEHOLDER}\r\n\r\n`,
  ]);
  expect(answers.map((answer) => answer.includes('the placeholder of the secret'))).toEqual([true, true, true, true]);
});

test('AX138: a flood of heads', async () => {
  let begun = 0;
  await using fixture = await endpointFixture({
    begin: async () => {
      begun += 1;
    },
  });
  const one = `GET /v1/a HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\n\r\n`;
  const last = one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const answer = await fixture.say(one.repeat(200) + last);
  expect({ answers: answer.split(GOOD).length - 1, begun, heard: fixture.heard.length }).toEqual({
    answers: 201,
    begun: 201,
    heard: 201,
  });
});

test('whatever bytes come, the server hears nothing but what the list allows, with the one secret', async () => {
  await using fixture = await endpointFixture({ headMs: 30, idleMs: 30 });
  const host = `Host: 127.0.0.1:${fixture.port}`;
  const piece = fc.constantFrom(
    'GET ',
    'POST ',
    'PUT ',
    'CONNECT ',
    '/v1/',
    '/exact',
    '/admin',
    '..',
    '%2e',
    '//',
    '?key=',
    ' HTTP/1.1',
    ' HTTP/1.0',

    '\r\n',
    '\r\n\r\n',
    '\n',
    '\r',
    ' ',
    '\t',
    ':',
    '\0',
    host,
    'Host: evil',
    'Content-Length: 5',
    'Content-Length: 0',

    'Transfer-Encoding: chunked',
    'Connection: close',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Authorization: own',
    'Expect: 100-continue',
    '5\r\nhello\r\n',
    '0\r\n\r\n',
    'hello',
    `GET /v1/a HTTP/1.1\r\n${host}\r\n`,
  );
  const bytes = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1')),
    fc
      .array(piece, { maxLength: 12 })
      .map((pieces) => Buffer.from(`GET /v1/a HTTP/1.1\r\n${host}\r\n${pieces.join('')}`, 'latin1')),
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (request) => {
      const answer = await fixture.say(request);
      expect(answer).not.toContain(SECRET);
      for (const { method, url, rawHeaders } of fixture.heard.splice(0)) {
        expect(['GET', 'POST', 'HEAD']).toContain(method);
        expect(url).toMatch(/^\/(?:v1\/|exact(?:$|\?))/);
        expect(url).not.toMatch(/\.\.|%2e|\/\/|key=/);
        const logins = rawHeaders.flatMap((name, at) =>
          name.toLowerCase() === 'authorization' ? [rawHeaders[at + 1]] : [],
        );
        expect(logins).toEqual([`Bearer ${SECRET}`]);
      }
    }),
    { numRuns: Math.ceil(400 * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1)) },
  );
});
