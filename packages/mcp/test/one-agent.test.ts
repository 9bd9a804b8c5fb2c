import { describe, expect, it } from '@jest/globals';
import { answerOf, ERAS } from '@litterbox/hardening/agent';
import type { Client } from '@modelcontextprotocol/client';
import { mcpFixture } from './mcp-fixture.ts';

describe.each(ERAS)('the one agent that works in a sandbox (%s)', (era) => {
  it('is told in the list, and a second one is refused with its name until it is gone', async () => {
    await using fixture = await mcpFixture({ era });
    await fixture.call('sandbox-create', { name: 'a' });
    const bash = async (client: Client, command: string) =>
      answerOf(await client.callTool({ name: 'bash', arguments: { sandbox: 'a', command } }));
    await Promise.all(
      [1, 2, 3].map(async (number) => await fixture.text('bash', { sandbox: 'a', command: `echo ${number}` })),
    );
    expect((await fixture.person.list())[0]).toMatchObject({ agent: 'agent' });
    const second = await fixture.connect();
    const refused = await bash(second, 'touch second');
    expect(refused.meta['code']).toBe('BUSY');
    expect(refused.text).toMatch(
      /^BUSY: agent \(process \d+\) is at work in a\.\nNext: Work in a sandbox of your own: sandbox-create; /,
    );
    const read = answerOf(await second.callTool({ name: 'ls', arguments: { sandbox: 'a' } }));
    expect({ isError: read.isError, text: read.text }).toEqual({
      isError: false,
      text: expect.not.stringContaining('second'),
    });
    await expect((await fixture.person.open('a')).seat('codex')).rejects.toMatchObject({ code: 'BUSY' });
    const sharing = await fixture.connect(['--share']);
    expect((await bash(sharing, 'echo shared')).text).toMatch(/^shared\n/);
    process.kill(fixture.pid(), 'SIGKILL');
    while ((await fixture.person.list())[0]?.agent !== undefined) await new Promise((resolve) => setImmediate(resolve));
    expect((await bash(second, 'echo second')).text).toMatch(/^second\n/);
    expect((await fixture.person.list())[0]).toMatchObject({ agent: 'agent' });
  });
});
