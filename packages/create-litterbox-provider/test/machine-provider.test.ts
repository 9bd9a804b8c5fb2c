import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { type ProviderMachine, SandboxId, type SandboxProvider, type SandboxSpec } from '@litterbox/core/provider';
import { provider } from '../templates/api/src/index.ts';

/** A service whose machines answer a command with what is given for their names; it drops a POST whose answer is 0. */
async function serviceOf(answers: Readonly<Record<string, number>>, post = 201) {
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.method === 'GET') answer.end(JSON.stringify(Object.keys(answers).map((name) => ({ name }))));
    else if (request.method === 'POST' && post === 0) request.socket.destroy();
    else answer.writeHead(request.method === 'POST' ? post : 204).end();
  });
  server.on('upgrade', (request, socket) => {
    const name = request.url?.split('/')[2] ?? '';
    socket.end(`HTTP/1.1 ${answers[name] ?? 404} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { readonly port: number };
  const host = { environment: { MACHINES_URL: `http://127.0.0.1:${port}` } };
  const made: SandboxProvider = provider({ host } as unknown as ProviderMachine);
  return {
    made,
    asked,
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      server.close();
    },
  };
}

const nameOf = (id: SandboxId) => `litterbox-${id}`;

test('FC-478: a machine that does not answer is unreachable, one that went meanwhile broken, and others are nobody’s', async () => {
  const [silent, gone] = [SandboxId.make(), SandboxId.make()];
  const others = { 'build-box': 200, [`anotherof-${SandboxId.make()}`]: 200 };
  await using service = await serviceOf({ [nameOf(silent)]: 500, [nameOf(gone)]: 404, ...others });
  const found = [];
  for await (const { id, state } of service.made.list()) found.push({ id, state });
  expect(found).toEqual([
    { id: silent, state: 'unreachable' },
    { id: gone, state: 'broken' },
  ]);
});

test('FC-479: a machine that there is not is NOT_FOUND, one that does not answer UNAVAILABLE', async () => {
  const silent = SandboxId.make();
  await using service = await serviceOf({ [nameOf(silent)]: 503 });
  await expect(service.made.open(SandboxId.make())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(service.made.open(silent)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('FC-473: a machine goes whose sandbox was not made, also when nobody heard that it was', async () => {
  for (const post of [201, 0]) {
    await using service = await serviceOf({}, post);
    const id = SandboxId.make();
    const spec = { id, playground: id, root: { type: 'machine' }, limits: {} } as unknown as SandboxSpec;
    await expect(service.made.create(spec)).rejects.toMatchObject({ code: post === 0 ? 'UNAVAILABLE' : 'NOT_FOUND' });
    expect(service.asked.at(-1)).toBe(`DELETE /machines/${nameOf(id)}`);
  }
});

test('a service that does not answer is said with the reason', async () => {
  const gone = createServer();
  await once(gone.listen(0, '127.0.0.1'), 'listening');
  const { port } = gone.address() as { readonly port: number };
  await once(gone.close(), 'close');
  const host = { environment: { MACHINES_URL: `http://127.0.0.1:${port}` } };
  await using made = provider({ host } as unknown as ProviderMachine);
  const [check] = (await made.probe()).checks;
  expect(check?.finding).toMatch(/does not answer: connect ECONNREFUSED 127\.0\.0\.1:\d+\.$/);
});

test('the service that comes along can be started by itself, for a program to try', async () => {
  const program = fileURLToPath(new URL('../templates/api/fake/service.ts', import.meta.url));
  const service = spawn(process.execPath, ['--no-warnings', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(service.stdout, 'data');
  const [, url = '', token = ''] = /^export MACHINES_URL=(\S+) MACHINES_TOKEN=(\S+)\n$/.exec(String(line)) ?? [];
  const headers = { authorization: `Bearer ${token}` };
  expect(await (await fetch(`${url}/machines`, { headers })).json()).toEqual([]);
  service.kill('SIGINT');
  expect(await once(service, 'exit')).toEqual([0, null]);
});
