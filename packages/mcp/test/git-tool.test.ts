import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RepositoryFixture } from '@litterbox/testing';
import { ERAS } from '@litterbox/hardening/agent';
import { type McpFixture, mcpFixture } from './mcp-fixture.ts';

/** A repository behind a web server on loopback, and who asked for what. */
let remote: RepositoryFixture;
let server: Server;
let url = '';
const asked: string[] = [];
const headers: string[] = [];

beforeAll(async () => {
  remote = new RepositoryFixture({ 'lib.txt': 'a library\n', '.gitattributes': '* filter=evil\n' });
  const bare = join(remote.directory, 'lib.git');
  execFileSync('git', ['clone', '-q', '--bare', remote.repository, bare]);
  mkdirSync(join(bare, 'hooks'), { recursive: true });
  writeFileSync(join(bare, 'hooks', 'post-checkout'), '#!/bin/sh\ntouch /playground/hook-ran\n', { mode: 0o755 });
  execFileSync('git', ['-C', bare, 'update-server-info']);
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    headers.push(JSON.stringify(request.headers));
    if (request.url?.startsWith('/elsewhere/'))
      return void response.writeHead(301, { location: request.url.replace('/elsewhere', '') }).end();
    const file = join(remote.directory, new URL(request.url ?? '/', 'http://localhost').pathname);
    if (existsSync(file) && statSync(file).isFile()) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lib.git`;
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await remote[Symbol.asyncDispose]();
});

const GIT_ON = { files: { 'a.txt': 'a\n', '.litterbox.toml': '[mcp]\ngit = true\n' } };

/** A fixture whose person agreed to the configuration. */
async function trusting(options: Parameters<typeof mcpFixture>[0] = {}): Promise<McpFixture> {
  const fixture = await mcpFixture({ ...GIT_ON, ...options });
  const { contentHash } = await fixture.person.trustStatus();
  await fixture.person.trust(contentHash);
  return fixture;
}

describe('X5: the tool git', () => {
  it('is not there unless the configuration says so and a person agreed to it', async () => {
    await using plain = await mcpFixture();
    expect((await plain.client.listTools()).tools.map(({ name }) => name)).not.toContain('git');
    await using asking = await mcpFixture(GIT_ON);
    expect((await asking.client.listTools()).tools.map(({ name }) => name)).not.toContain('git');
    const { contentHash } = await asking.person.trustStatus();
    await asking.person.trust(contentHash);
    const trusted = await asking.connect();
    const { tools } = await trusted.listTools();
    const git = tools.find(({ name }) => name === 'git');
    expect(git?.annotations).toMatchObject({ openWorldHint: true, readOnlyHint: true });
    expect(git?.inputSchema.properties?.['action']).toMatchObject({ enum: ['clone', 'status', 'log', 'diff', 'show'] });
    expect(tools.find(({ name }) => name === 'bash')?.description).toContain('(to clone use git)');
  });

  it.each(ERAS)('clones into the playground when the person says yes, and never records it (%s)', async (era) => {
    await using base = await trusting({ era });
    const client = await base.connect([], { capabilities: { elicitation: { form: {} } } });
    const questions: string[] = [];
    let allow = false;
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return { action: 'accept', content: { allow } };
    });
    const call = async (input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name: 'git', arguments: { sandbox: 'a', ...input } });
      return `${isError ? 'ERROR ' : ''}${content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')}`;
    };
    await base.call('sandbox-create', { name: 'a' });
    asked.length = 0;
    // What a killed clone left: no process has that number.
    mkdirSync(join(base.scratch.stateDirectory, 'clones', '.litterbox-4194305-0123456789ab.tmp'), { recursive: true });
    expect(await call({ action: 'clone', url })).toMatch(/^ERROR PERMISSION_DENIED/);
    expect(asked).toEqual([]);
    allow = true;
    expect(await call({ action: 'clone', url })).toMatch(
      /^\[cloned ".*lib\.git" into \/playground\/lib, at [0-9a-f]{12}\]$/,
    );
    expect(questions[0]).toContain(url);
    expect(await base.text('read', { sandbox: 'a', path: '/playground/lib/lib.txt' })).toBe('a library\n');
    expect(await base.text('ls', { sandbox: 'a', path: '/playground' })).toBe('lib/');
    expect(await call({ action: 'log', path: '/playground/lib' })).toMatch(
      /^[0-9a-f]{7,} \d{4}-\d\d-\d\d Somebody: one$/,
    );
    expect(await call({ action: 'show', path: '/playground/lib' })).toContain('+a library');
    expect(await call({ action: 'clone', url })).toMatch(/^ERROR ALREADY_EXISTS/);
    expect(await (await base.person.open('a')).log()).toEqual([]);
    expect(headers.join()).not.toMatch(/authorization|cookie/i);
    expect(readdirSync(join(base.scratch.stateDirectory, 'clones'))).toEqual([]);
  });

  it('names the command for the person at a client that cannot ask, and that command does it', async () => {
    await using fixture = await trusting();
    const client = await fixture.connect();
    await fixture.call('sandbox-create', { name: 'a' });
    const { content, isError } = await client.callTool({
      name: 'git',
      arguments: { sandbox: 'a', action: 'clone', url },
    });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain('litterbox clone');
    const { cloneRepository } = await import('@litterbox/core');
    const cloned = await fixture.person.perform(cloneRepository, { sandbox: 'a', url, destination: 'libs/x' });
    expect(cloned).toMatchObject({ path: '/playground/libs/x', head: expect.stringMatching(/^[0-9a-f]{40}$/) });
  });

  it('tells what the sandbox did, without a repository in it', async () => {
    await using fixture = await trusting();
    const client = await fixture.connect();
    await fixture.call('sandbox-create', { name: 'a' });
    await fixture.text('write', { sandbox: 'a', path: 'a.txt', content: 'b\n' });
    const call = async (input: Record<string, unknown>) =>
      JSON.stringify((await client.callTool({ name: 'git', arguments: { sandbox: 'a', ...input } })).content);
    expect(await call({ action: 'log' })).toContain('1 write: a.txt');
    expect(await call({ action: 'diff' })).toContain('-a\\n+b');
    expect(await call({ action: 'show', revision: '1' })).toContain('-a\\n+b');
    expect(await call({ action: 'status' })).toContain('a.txt');
  });

  it('goes nowhere else: no other protocol, no password, no other place', async () => {
    await using fixture = await trusting();
    await fixture.call('sandbox-create', { name: 'a' });
    const { cloneRepository } = await import('@litterbox/core');
    const codeOf = async (input: { readonly url: string; readonly destination?: string }) =>
      await fixture.person.perform(cloneRepository, { sandbox: 'a', ...input }).then(
        () => 'cloned',
        (error: { code?: string }) => error.code,
      );
    for (const other of [
      `file://${remote.repository}`,
      remote.repository,
      'ssh://git@localhost/x',
      'git@localhost:x',
      'ext::sh -c touch% /tmp/pwned',
      '--upload-pack=touch /tmp/pwned',
      'https://user:password@localhost/x',
      'https://localhost/x?token=1',
      'https://local host/x',
      'https://l\u043ecalhost/x',
      'https://localhost\\@evil.example/x',
      '',
    ])
      expect({ other, codeOf: await codeOf({ url: other, destination: 'x' }) }).toEqual({
        other,
        codeOf: 'INVALID_ARGUMENT',
      });
    for (const destination of [
      '/tmp/x',
      '../x',
      `${fixture.scratch.repository}/x`,
      '/playground',
      '/playground/../etc/x',
    ])
      expect({ destination, codeOf: await codeOf({ url, destination }) }).toEqual({
        destination,
        codeOf: 'PATH_OUTSIDE_WORKDIR',
      });
    expect(await codeOf({ url: `${url}x` })).toBe('UNAVAILABLE');
    // An address may answer with one of the person's own network: it is told, not followed.
    asked.length = 0;
    expect(await codeOf({ url: url.replace('/lib.git', '/elsewhere/lib.git') })).toBe('UNAVAILABLE');
    expect(asked.length > 0 && asked.every((path) => path.startsWith('/elsewhere/'))).toBe(true);
    expect(await codeOf({ url: 'http://127.0.0.1:1/x.git' })).toBe('UNAVAILABLE');
    expect(await fixture.text('ls', { sandbox: 'a', path: '/playground' })).toBe('[the directory is empty]');
  });
});
