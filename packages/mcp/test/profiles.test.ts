import { describe, expect, it } from '@jest/globals';
import { CONFIG_FILE } from '@litterbox/core';
import { mcpDesk } from './desk.ts';

const namesOf = async (desk: Awaited<ReturnType<typeof mcpDesk>>) =>
  (await desk.client.listTools()).tools.map(({ name }) => name);

describe('profiles', () => {
  it('X6: roadmap has the names of the roadmap, and a message is mandatory for commands', async () => {
    await using desk = await mcpDesk({ args: ['--tools=roadmap'] });
    expect(await namesOf(desk)).toEqual([
      'sandbox-create',
      'sandbox-list',
      'sandbox-milestone',
      'sandbox-service',
      'sandbox-ports',
      'sandbox-read',
      'sandbox-write',
      'sandbox-exec',
    ]);
    for (const { description = '' } of (await desk.client.listTools()).tools)
      expect(description).not.toContain('patch');
    await desk.call('sandbox-create', { name: 'a' });
    expect(await desk.code('sandbox-exec', { sandbox: 'a', command: 'true' })).toBe('ARG_MISSING');
    await desk.text('sandbox-exec', { sandbox: 'a', command: 'echo x >x', message: 'An x' });
    expect(await desk.text('sandbox-read', { sandbox: 'a', path: 'x' })).toBe('x\n');
    const [revision] = await (await desk.person.open('a')).log();
    expect({ subject: revision?.subject, body: revision?.body }).toEqual({ subject: 'An x', body: 'bash: echo x >x' });
  });

  it('a prefix stands before every name, in the instructions too', async () => {
    await using desk = await mcpDesk({ args: ['--tool-prefix', 'lb_'] });
    const names = await namesOf(desk);
    expect(names).toContain('lb_bash');
    expect(names.filter((name) => !name.startsWith('lb_'))).toEqual([]);
    expect(desk.client.getInstructions()).toContain('lb_sandbox-create');
    const { tools } = await desk.client.listTools();
    expect(tools.find(({ name }) => name === 'lb_write')?.description).toContain('lb_patch');
  });

  it('X7, A35: bound to one sandbox, tools take no name and know of no other', async () => {
    await using desk = await mcpDesk({ args: ['--sandbox', 'Only One'] });
    await using _only = await desk.person.create({ name: 'only one' });
    await using other = await desk.person.create({ name: 'other' });
    await other.write('secret.txt', 'of the other\n');
    const { tools } = await desk.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('sandbox-create');
    expect(tools.map(({ name }) => name)).not.toContain('sandbox-list');
    for (const { inputSchema } of tools) expect(Object.keys(inputSchema.properties ?? {})).not.toContain('sandbox');
    await desk.text('write', { path: 'x', content: 'x\n' });
    expect(await desk.text('read', { path: 'x', sandbox: 'only-one' })).toBe('x\n');
    const texts = new Set<string>();
    for (const sandbox of ['other', 'nothing', 'OTHER', 'other ', 'аther']) {
      const { text, isError } = await desk.call('read', { path: 'secret.txt', sandbox });
      expect(isError).toBe(true);
      texts.add(text);
    }
    expect(texts.size).toBe(1);
    expect([...texts][0]).toMatch(/^SANDBOX_NOT_FOUND/);
    const { resources } = await desk.client.listResources();
    expect(resources.every(({ uri }) => uri.startsWith('litterbox://only-one/'))).toBe(true);
    for (const { uri } of resources) await desk.client.readResource({ uri });
    for (const name of ['other', 'nothing'])
      await expect(desk.client.readResource({ uri: `litterbox://${name}/log` })).rejects.toThrow(/SANDBOX_NOT_FOUND/);
    const { messages } = await desk.client.getPrompt({ name: 'review', arguments: { sandbox: 'only-one' } });
    expect(JSON.stringify(messages)).toContain('diff --git a/x b/x');
    await expect(desk.client.getPrompt({ name: 'review', arguments: { sandbox: 'other' } })).rejects.toThrow(
      /SANDBOX_NOT_FOUND/,
    );
    const { completion } = await desk.client.complete({
      ref: { type: 'ref/resource', uri: 'litterbox://{sandbox}/diff' },
      argument: { name: 'sandbox', value: '' },
    });
    expect(completion.values).toEqual(['only-one']);
  });

  it('require-message makes a message part of the schema', async () => {
    await using desk = await mcpDesk({ files: { [CONFIG_FILE]: '[revisions]\nrequire-message = true\n' } });
    const { tools } = await desk.client.listTools();
    for (const name of ['bash', 'write', 'patch']) {
      const schema = tools.find((one) => one.name === name)?.inputSchema;
      expect(schema?.required).toContain('message');
      expect(schema?.properties?.['message']).toMatchObject({
        description: expect.stringMatching(/^Why, in one line/),
      });
    }
    expect(tools.find(({ name }) => name === 'read')?.inputSchema.required).not.toContain('message');
  });

  it('X21: descriptions and instructions tell of the timeout that is configured', async () => {
    await using desk = await mcpDesk({ files: { [CONFIG_FILE]: '[limits]\ntimeout = "7s"\n' } });
    const { tools } = await desk.client.listTools();
    expect(tools.find(({ name }) => name === 'bash')?.description).toContain('(default 7000 ms)');
    expect(desk.client.getInstructions()).toContain('Commands end after 7000 ms');
    await desk.call('sandbox-create', { name: 'a' });
    const { facts } = await desk.call('sandbox-status', { sandbox: 'a' });
    expect(facts['timeoutMs']).toBe(7000);
  });

  it('starts where there is no repository, and says so when something is asked for', async () => {
    await using desk = await mcpDesk({ args: ['--repo', '/'] });
    expect(await desk.code('sandbox-create', { name: 'a' })).toBe('NOT_A_REPO');
  });
});
