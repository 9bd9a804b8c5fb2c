import { describe, expect, it } from '@jest/globals';
import { CONFIG_FILE } from '@litterbox/core';
import { mcpFixture } from './mcp-fixture.ts';

const namesOf = async (fixture: Awaited<ReturnType<typeof mcpFixture>>) =>
  (await fixture.client.listTools()).tools.map(({ name }) => name);

describe('profiles', () => {
  it('X6: roadmap has the names of the roadmap, and a message is mandatory for commands', async () => {
    await using fixture = await mcpFixture({ args: ['--tools=roadmap'] });
    expect(await namesOf(fixture)).toEqual([
      'sandbox-create',
      'sandbox-list',
      'sandbox-milestone',
      'sandbox-service',
      'sandbox-ports',
      'sandbox-read',
      'sandbox-write',
      'sandbox-edit',
      'sandbox-exec',
    ]);
    for (const { description = '' } of (await fixture.client.listTools()).tools)
      expect(description).not.toContain('patch');
    await fixture.call('sandbox-create', { name: 'a' });
    expect(await fixture.code('sandbox-exec', { sandbox: 'a', command: 'true' })).toBe('ARG_MISSING');
    await fixture.text('sandbox-exec', { sandbox: 'a', command: 'echo x >x', message: 'An x' });
    expect(await fixture.text('sandbox-read', { sandbox: 'a', path: 'x' })).toBe('x\n');
    const [revision] = await (await fixture.person.open('a')).log();
    expect({ subject: revision?.subject, body: revision?.body }).toEqual({ subject: 'An x', body: 'bash: echo x >x' });
  });

  it('the whole list of tools stays below 2,500 tokens', async () => {
    await using fixture = await mcpFixture();
    const { tools } = await fixture.client.listTools();
    // Texts like these have 4.3 bytes a token or more (`npm run docs:tokens`).
    expect(Buffer.byteLength(JSON.stringify(tools)) / 4.3).toBeLessThan(2_520);
  });

  it('what a tool answers with is outlined by names and types', async () => {
    await using fixture = await mcpFixture();
    const { tools } = await fixture.client.listTools();
    expect(tools.find(({ name }) => name === 'sandbox-milestone')?.outputSchema).toEqual({
      type: 'object',
      properties: { milestone: { type: 'object' }, review: { type: 'string' }, note: { type: 'string' } },
    });
    expect(tools.find(({ name }) => name === 'read')?.outputSchema).toBeUndefined();
  });

  it('a prefix stands before every name, in the instructions too', async () => {
    await using fixture = await mcpFixture({ args: ['--tool-prefix', 'lb_'] });
    const names = await namesOf(fixture);
    expect(names).toContain('lb_bash');
    expect(names.filter((name) => !name.startsWith('lb_'))).toEqual([]);
    expect(fixture.client.getInstructions()).toContain('lb_sandbox-create');
    const { tools } = await fixture.client.listTools();
    expect(tools.find(({ name }) => name === 'lb_write')?.description).toContain('lb_edit');
  });

  it('X7, A35: bound to one sandbox, tools take no name and know of no other', async () => {
    await using fixture = await mcpFixture({ args: ['--sandbox', 'Only One'] });
    await using _only = await fixture.person.create({ name: 'only one' });
    await using other = await fixture.person.create({ name: 'other' });
    await other.files.write('secret.txt', 'of the other\n');
    const { tools } = await fixture.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('sandbox-create');
    expect(tools.map(({ name }) => name)).not.toContain('sandbox-list');
    for (const { inputSchema } of tools) expect(Object.keys(inputSchema.properties ?? {})).not.toContain('sandbox');
    await fixture.text('write', { path: 'x', content: 'x\n' });
    expect(await fixture.text('read', { path: 'x', sandbox: 'only-one' })).toBe('x\n');
    const texts = new Set<string>();
    for (const sandbox of ['other', 'nothing', 'OTHER', 'other ', 'аther']) {
      const { text, isError } = await fixture.call('read', { path: 'secret.txt', sandbox });
      expect(isError).toBe(true);
      texts.add(text);
    }
    expect(texts.size).toBe(1);
    expect([...texts][0]).toMatch(/^SANDBOX_NOT_FOUND/);
    const { resources } = await fixture.client.listResources();
    expect(resources.every(({ uri }) => uri.startsWith('litterbox://only-one/'))).toBe(true);
    for (const { uri } of resources) await fixture.client.readResource({ uri });
    for (const name of ['other', 'nothing'])
      await expect(fixture.client.readResource({ uri: `litterbox://${name}/log` })).rejects.toThrow(
        /SANDBOX_NOT_FOUND/,
      );
    const { messages } = await fixture.client.getPrompt({ name: 'review', arguments: { sandbox: 'only-one' } });
    expect(JSON.stringify(messages)).toContain('diff --git a/x b/x');
    await expect(fixture.client.getPrompt({ name: 'review', arguments: { sandbox: 'other' } })).rejects.toThrow(
      /SANDBOX_NOT_FOUND/,
    );
    const { completion } = await fixture.client.complete({
      ref: { type: 'ref/resource', uri: 'litterbox://{sandbox}/diff' },
      argument: { name: 'sandbox', value: '' },
    });
    expect(completion.values).toEqual(['only-one']);
  });

  it('require-message makes a message part of the schema', async () => {
    await using fixture = await mcpFixture({ files: { [CONFIG_FILE]: '[revisions]\nrequire-message = true\n' } });
    const { tools } = await fixture.client.listTools();
    for (const name of ['bash', 'write', 'edit', 'patch']) {
      const schema = tools.find((one) => one.name === name)?.inputSchema;
      expect(schema?.required).toContain('message');
      expect(schema?.properties?.['message']).toMatchObject({
        description: expect.stringMatching(/^Why, in one line/),
      });
    }
    expect(tools.find(({ name }) => name === 'read')?.inputSchema.required).not.toContain('message');
  });

  it('X21: descriptions and instructions tell of the timeout that is configured', async () => {
    await using fixture = await mcpFixture({ files: { [CONFIG_FILE]: '[limits]\ntimeout = "7s"\n' } });
    const { tools } = await fixture.client.listTools();
    expect(tools.find(({ name }) => name === 'bash')?.description).toContain('(default 7000 ms)');
    expect(fixture.client.getInstructions()).toContain('Commands end after 7000 ms');
    await fixture.call('sandbox-create', { name: 'a' });
    const { facts } = await fixture.call('sandbox-status', { sandbox: 'a' });
    expect(facts['timeoutMs']).toBe(7000);
  });

  it('starts where there is no repository, and says so when something is asked for', async () => {
    await using fixture = await mcpFixture({ args: ['--repo', '/'] });
    expect(await fixture.code('sandbox-create', { name: 'a' })).toBe('NOT_A_REPO');
  });
});
