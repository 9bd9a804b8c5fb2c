// What limits of a sandbox do to programs in it, as an agent is told.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type McpFixture, mcpFixture } from './mcp-fixture.ts';

const sandbox = 'a';
let fixture: McpFixture;

beforeAll(async () => {
  fixture = await mcpFixture({
    files: { '.litterbox.toml': '[limits]\nmemory = "256MiB"\ncpus = 1\nprocesses = 64\n' },
  });
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

  it('tells what the kernel killed for memory behind a program that says something else', async () => {
    const greedy = 'head -c 536870912 /dev/zero | tail -n 1 >/dev/null || { echo "cannot do it" >&2; exit 2; }';
    expect(await bash(greedy)).toMatch(
      /cannot do it\n\[exit code 2, .*\n\[hint: out of memory: the kernel killed a process, .* 256 MiB \(limits\.memory\).*\]$/,
    );
  });

  it('tells of processes that could not be started behind a program that says something else', async () => {
    const many = "echo 'sh $0 & wait' >/tmp/many; sh /tmp/many 2>/dev/null; echo 'cannot do it'; exit 2";
    expect(await bash(many)).toMatch(
      /cannot do it\n\[exit code 2, .*\n\[hint: .*could not start: .* limit of 64 .*\(limits\.processes\).*\]$/,
    );
  });

  it('is told before: by the tool, by variables, and by what programs look up', async () => {
    const { tools } = await fixture.client.listTools();
    expect(tools.find(({ name }) => name === 'bash')?.description).toContain(
      'All its programs together have 1 processor and 256 MiB of memory.',
    );
    const look =
      'echo $LITTERBOX_CPUS $LITTERBOX_MEMORY_BYTES $(nproc) $(cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null)';
    expect(await bash(look)).toMatch(/^1 268435456 1 268435456\n/);
  });
});
