import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ExecServer, listenExecServer } from '@litterbox/agents';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Sandbox } from 'litterbox';
import type { Bench, Scenario } from '../bench.ts';
import { CodexClient } from '../codex-client.ts';
import { interleaved, timed } from '../measure.ts';

const START = createRequire(import.meta.url).resolve('@litterbox/mcp/start');
/** Issue C: a tool on one small file, over standard input and output. */
const LIMIT_MS = 5;

/** P3 and P10 as an agent meets them: a real client, a real server, one small file. */
export const measureAgents: Scenario = async (bench) => {
  const { scale, findings, repositories, stateDirectory } = bench;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['-e', `require(${JSON.stringify(START)}).start('mcp', ['--repo', ${JSON.stringify(repositories.small)}])`],
    env: { ...(process.env as Record<string, string>), LITTERBOX_HOME: stateDirectory('small') },
  });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  const call = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const { isError, content } = await client.callTool({ name, arguments: { sandbox: 'agents', ...input } });
    if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
  };
  await client.callTool({ name: 'sandbox-create', arguments: { name: 'agents' } });
  await call('write', { path: 'notes/agent.txt', content: 'a note\n' });
  const plan = { rounds: scale.rounds.fast, warmUps: 20 };
  const measured = await interleaved(plan, {
    ping: () => timed(() => client.ping()),
    read: () => timed(() => call('read', { path: 'notes/agent.txt' })),
    ls: () => timed(() => call('ls', { path: 'notes' })),
    write: (round) => timed(() => call('write', { path: 'notes/agent.txt', content: `note ${round}\n` })),
    bash: () => timed(() => call('bash', { command: 'true' })),
  });
  for (const name of ['read', 'ls', 'write', 'bash'] as const)
    findings.row({
      target: 'P3',
      what: `${name} of an agent over MCP`,
      measured: measured[name],
      against: 'a ping of the same server',
      floor: measured.ping,
      limit: { of: 'value', atMost: LIMIT_MS },
    });

  const { early, late } = scale.calls;
  const resident: number[] = [];
  for (let done = 0; done < late; done += 4) {
    await Promise.all([
      call('read', { path: 'notes/agent.txt' }),
      call('ls', { path: 'notes' }),
      call('grep', { pattern: 'note', path: 'notes' }),
      call('write', { path: 'notes/agent.txt', content: `note ${done}\n` }),
    ]);
    if (done + 4 >= early && resident.length === 0) resident.push(residentMebibytes(transport.pid));
  }
  findings.row({
    target: 'P10',
    what: `resident memory of the MCP server after ${late} calls`,
    unit: 'MiB',
    measured: [residentMebibytes(transport.pid)],
    against: `the same after ${early}`,
    floor: resident,
    limit: { of: 'ratio', atMost: 1.2 },
  });
  await client.close();
  await using litterbox = bench.litterbox('small');
  await measureCodex(bench, await litterbox.open('agents'));
  await litterbox.delete('agents', { force: true });
};

/** A command of Codex whose hands are in a sandbox, beside the call of the library that it becomes. */
async function measureCodex({ scale, findings, repositories }: Bench, sandbox: Sandbox): Promise<void> {
  const root = repositories.small;
  await using listening = await listenExecServer(new ExecServer({ hands: sandbox, root, shell: '/bin/bash' }));
  using codex = await CodexClient.open(listening.url);
  const attach = async () => {
    await using attached = await sandbox.attach({ command: ['/bin/bash', '-c', 'true'] });
    await attached.process.closeStdin();
    for await (const _output of attached.process);
    await attached.finish(await attached.process.exit);
  };
  const measured = await interleaved(
    { rounds: scale.rounds.fast, warmUps: 20 },
    { codex: () => timed(() => codex.run('true', root)), library: () => timed(attach) },
  );
  findings.row({
    target: 'P3',
    what: 'a command of Codex with its hands in a sandbox',
    measured: measured.codex,
    against: 'the same by attach of the library',
    floor: measured.library,
    limit: { of: 'ratio', atMost: 1.2 },
  });
}

function residentMebibytes(pid: number | null): number {
  const [, kibibytes = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}
