// What limits of a sandbox do to programs in it, as an agent is told.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type McpFixture, mcpFixture } from './mcp-fixture.ts';

const sandbox = 'a';
let fixture: McpFixture;

beforeAll(async () => {
  fixture = await mcpFixture({ files: { '.litterbox.toml': '[limits]\nmemory = "256MiB"\n' } });
  await fixture.call('sandbox-create', { name: sandbox });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

const bash = async (command: string) => (await fixture.call('bash', { sandbox, command })).text;

describe('a limit that was hit', () => {
  it('tells how much a temporary directory holds when one is full', async () => {
    for (const directory of ['/tmp', '/dev/shm'])
      expect(
        await bash(`dd if=/dev/zero of=${directory}/fill bs=1M count=200 || { rm ${directory}/fill; exit 1; }`),
      ).toMatch(
        /\n\[hint: \/tmp, \/var\/tmp and \/dev\/shm hold at most half of the memory limit each, 128 MiB; .*\]$/,
      );
    expect(await bash('echo fine')).not.toContain('hint');
  });
});
