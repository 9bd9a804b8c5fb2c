import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RepositoryFixture } from '@litterbox/testing';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ERAS, serverArguments } from '@litterbox/hardening/agent';
import { clear } from './mcp-fixture.ts';

let scratch: RepositoryFixture;
let server: ChildProcess;
let url = '';
let token = '';
const tokenFile = () => join(scratch.stateDirectory, 'serve.token');

function startServer(args: readonly string[] = []): ChildProcess {
  return spawn(process.execPath, [...serverArguments(['--repo', scratch.repository, ...args], 'serve')], {
    env: { PATH: process.env['PATH'], HOME: scratch.directory, LITTERBOX_HOME: scratch.stateDirectory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What it says first, on either stream. */
async function saidFirst(child: ChildProcess): Promise<string> {
  const [bytes] = (await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit').then(() => [''])])) as [
    Buffer | string,
  ];
  return bytes.toString().trim();
}

beforeAll(async () => {
  scratch = new RepositoryFixture();
  server = startServer();
  url = await saidFirst(server);
  token = readFileSync(tokenFile(), 'utf8').trim();
});
afterAll(async () => {
  server.kill('SIGTERM');
  const [code] = (await once(server, 'exit')) as [number | null];
  await clear(scratch);
  expect(code).toBe(0);
});

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

async function post(
  headers: Readonly<Record<string, string>>,
  { path = '/mcp', body = LIST, method = 'POST' } = {},
): Promise<{ readonly status: number; readonly body: string }> {
  const target = new URL(url);
  return await new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: target.hostname,
        port: target.port,
        path,
        method,
        agent: false, // a connection each: one that a refusal ends is not used again
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      },
    );
    request.on('error', reject).end(body);
  });
}

describe('A39: over HTTP', () => {
  it('only loopback, a token that its owner alone can read, and one path', async () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const good = { authorization: `Bearer ${token}` };
    expect((await post(good)).body).toContain('sandbox-create');
    expect((await post(good, { path: '/' })).status).toBe(404);
  });

  it('no token, a wrong one, or one in the wrong place is 401', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer ' },
      { authorization: 'Bearer x' },
      { authorization: `Bearer ${token}x` },
      { authorization: `Basic ${token}` },
      { cookie: `token=${token}` },
    ])
      expect({ headers, status: (await post(headers as Record<string, string>)).status }).toEqual({
        headers,
        status: 401,
      });
    expect((await post({}, { path: `/mcp?token=${token}` })).status).toBe(401);
  });

  it('no other path leads in, however it is written, and none leads to a file', async () => {
    const good = { authorization: `Bearer ${token}` };
    for (const path of [
      '/mcp/../../etc/passwd',
      '/../../../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/mcp/..%2f..%2fetc/passwd',
      '//mcp',
      '/mcp/',
      '/MCP',
      '/%6dcp',
      '/serve.token',
    ]) {
      const { status, body } = await post(good, { path });
      expect({ path, status, body }).toEqual({ path, status: 404, body: 'There is /mcp and nothing else.\n' });
      expect({ path, status: (await post({}, { path })).status }).toEqual({ path, status: 401 }); // who has no token learns of no path
    }
    // A whole address in the first line would say another host than the header that is looked at.
    for (const path of ['http://evil.example/mcp', 'http://127.0.0.1/mcp', '*'])
      expect({ path, status: (await post(good, { path })).status }).toEqual({ path, status: 400 });
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
      expect({ method, status: String((await post(good, { method })).status) }).toEqual({
        method,
        status: expect.stringMatching(/^40[05]$/),
      });
  });

  it('a message that is nested too deep is refused before it is parsed', async () => {
    const good = { authorization: `Bearer ${token}` };
    const nested = (levels: number) =>
      JSON.stringify({ ...JSON.parse(LIST), params: { _meta: { 'test/x': 0 } } }).replace(
        ':0',
        `:${'['.repeat(levels)}${']'.repeat(levels)}`,
      );
    const { status, body } = await post(good, { body: nested(80) });
    expect({ status, message: JSON.parse(body).error.message }).toEqual({
      status: 400,
      message: expect.stringContaining('64 levels'),
    });
    expect((await post(good, { body: nested(20) })).body).toContain('sandbox-create'); // positive control
  });

  it('who sends its headers slowly is cut off, and keeps nobody out meanwhile', async () => {
    const { hostname, port } = new URL(url);
    const slow = Array.from({ length: 100 }, () => connect(Number(port), hostname));
    const closed = slow.map(
      (socket) => new Promise((resolve) => void socket.on('error', () => {}).on('close', resolve)), // it may be reset
    );
    const from = performance.now();
    for (const socket of slow) socket.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('X-Slow: x\r\n');
    }, 500);
    expect((await post({ authorization: `Bearer ${token}` })).status).toBe(200);
    await Promise.all(closed);
    clearInterval(drip);
    expect(performance.now() - from).toBeLessThan(40_000);
    expect((await post({ authorization: `Bearer ${token}` })).status).toBe(200);
  });

  it('AX125: whoever opens hundreds of connections without a token keeps nobody out', async () => {
    const { hostname, port } = new URL(url);
    const good = { authorization: `Bearer ${token}` };
    const held: Socket[] = [];
    try {
      for (let round = 0; round < 3; round++) {
        for (let n = 0; n < 150; n++) {
          const socket = connect(Number(port), hostname).on('error', () => {}); // it may be reset
          held.push(socket);
          await once(socket, 'connect');
        }
        const answers = await Promise.all(Array.from({ length: 20 }, () => post(good)));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      }
      expect(held.filter((socket) => !socket.closed).length).toBeGreaterThan(0); // positive control
    } finally {
      for (const socket of held) socket.destroy();
    }
  });

  it('clients that number their requests alike get their own answers', async () => {
    const good = { authorization: `Bearer ${token}` };
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const params = { name: 'read', arguments: { sandbox: `nobody-${index}`, path: 'x' } };
        const { body } = await post(good, {
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        });
        return body;
      }),
    );
    answers.forEach((body, index) => {
      expect(body).toContain(`There is no sandbox \\"nobody-${index}\\" in this repository`);
      expect(body.match(/nobody-/g)).toHaveLength(1);
    });
  });

  it('another Host or Origin is refused before the token is looked at', async () => {
    const good = { authorization: `Bearer ${token}` };
    for (const host of [
      'evil.example',
      `evil.example:${new URL(url).port}`,
      '127.0.0.1.evil.example',
      '169.254.169.254',
    ])
      expect({ host, status: (await post({ ...good, host })).status }).toEqual({ host, status: 403 });
    for (const origin of ['http://evil.example', 'null', 'https://localhost.evil.example'])
      expect({ origin, status: (await post({ ...good, origin })).status }).toEqual({ origin, status: 403 });
    expect((await post({ ...good, origin: 'http://localhost:3000' })).status).toBe(200);
  });

  it('a body of a hundred megabytes is refused, and the server lives', async () => {
    const good = { authorization: `Bearer ${token}` };
    const large = await post(good, { body: `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(100 * 2 ** 20)}"}` }).catch(
      (error: NodeJS.ErrnoException) => ({ status: error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 413 : 0 }),
    );
    expect(large.status).toBe(413);
    expect((await post(good)).status).toBe(200);
  });

  it.each(ERAS)('real clients work in it, two at once, each in its sandbox (%s)', async (era) => {
    const connected = async () => {
      const client = new Client(
        { name: 'http', version: '1' },
        { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
      );
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      );
      return client;
    };
    const clients = await Promise.all([connected(), connected()]);
    await Promise.all(
      clients.map(async (client, index) => {
        const sandbox = `${era}-${index}`;
        await client.callTool({ name: 'sandbox-create', arguments: { name: sandbox } });
        const heard: string[] = [];
        const { content } = await client.callTool(
          { name: 'bash', arguments: { sandbox, command: `echo ${index} >mine; cat mine` } },
          { onprogress: ({ message }) => void heard.push(message ?? '') },
        );
        expect(content[0]?.type === 'text' ? content[0].text : '').toMatch(new RegExp(`^${index}\n`));
      }),
    );
    await Promise.all(clients.map((client) => client.close()));
  });

  it('keeps its token, and refuses one that others can read', async () => {
    const again = startServer();
    expect(await saidFirst(again)).toMatch(/^http/);
    expect(readFileSync(tokenFile(), 'utf8').trim()).toBe(token);
    again.kill('SIGTERM');
    await once(again, 'exit');
    for (const [mode, content] of [
      [0o644, token],
      [0o600, 'short'],
    ] as const) {
      const file = join(scratch.directory, `token-${mode}`);
      writeFileSync(file, content);
      chmodSync(file, mode);
      const refused = startServer(['--token-file', file]);
      let stderr = '';
      refused.stderr?.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
      const [code] = (await once(refused, 'close')) as [number];
      expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining('→ Remove it') });
    }
  });
});
