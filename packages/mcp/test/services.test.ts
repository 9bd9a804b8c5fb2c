import { expect, it } from '@jest/globals';
import { mcpFixture } from './mcp-fixture.ts';

const CONFIG = `[container.ports]
web = 8080
[container.services.web]
command = ["node", "web.mjs"]
health = { port = "web" }
[container.services.writer]
command = ["sh", "-c", "echo written >>made.txt; echo said; exec sleep 1000"]
`;

const WEB = `import http from 'node:http';
http.createServer((request, response) => response.end('hello')).listen(8080, '127.0.0.1');
`;

it('33, R15: an agent starts, stops and reads services, finds the ports, and what a service writes is recorded', async () => {
  await using fixture = await mcpFixture({ files: { '.litterbox.toml': CONFIG, 'web.mjs': WEB } });
  await fixture.person.trust((await fixture.person.trustStatus()).contentHash);
  const created = await fixture.call('sandbox-create', { name: 'a' });
  expect(created.facts['ports']).toEqual([{ name: 'web', inside: 8080, outside: expect.any(Number) }]);
  const sandbox = 'a';
  const { facts } = await fixture.call('sandbox-ports', { sandbox });
  const [{ outside, answers } = { outside: 0, answers: false }] = facts['ports'] as {
    outside: number;
    answers: boolean;
  }[];
  expect(answers).toBe(true);
  expect(await (await fetch(`http://127.0.0.1:${outside}/`)).text()).toBe('hello');
  const service = async (action: string, name?: string) =>
    await fixture.text('sandbox-service', { sandbox, action, ...(name !== undefined && { service: name }) });
  const status = async (name?: string) =>
    (await fixture.call('sandbox-service', { sandbox, action: 'status', service: name })).facts;
  expect(await status()).toMatchObject({
    services: [
      { name: 'web', state: 'running' },
      { name: 'writer', state: 'running' },
    ],
  });
  expect(await service('stop', 'web')).toMatch(/^web: stopped\n\[nothing to record\]$/);
  expect(await status('web')).toMatchObject({ services: [{ name: 'web', state: 'stopped' }] });
  expect(await service('restart', 'writer')).toMatch(/^writer: running\n\[recorded as revision \d+ \(1 file\)\]$/);
  expect(await service('logs', 'writer')).toMatch(/^said\n\[litterbox: stopping with SIGTERM\]\n[^]*said\n$/);
  expect(await fixture.text('bash', { sandbox, command: 'cat made.txt' })).toContain('written\nwritten\n');
  const subjects = (await (await fixture.person.open('a')).log()).map(({ subject }) => subject);
  expect(subjects).toEqual(['service: restart writer', 'service: start']);
  expect(await fixture.code('sandbox-service', { sandbox, action: 'start', service: 'nothing' })).toBe(
    'SERVICE_NOT_FOUND',
  );
  expect(await fixture.code('sandbox-service', { sandbox, action: 'reload' })).toMatch(/^ARG_/);
  await fixture.person.delete('a', { force: true });
  await expect(fetch(`http://127.0.0.1:${outside}/`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
