import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AgentClient, connectAgent } from '../agent/agent-client.ts';
import { violations } from '../faults/invariants.ts';
import { engineEnvironment, type ProviderUnderTest } from '../faults/provider-under-test.ts';
import { type FaultFixture, faultFixture } from '../faults/fault-fixture.ts';

export interface CrowdOptions {
  /** Servers for agents, each a process of its own with a client. */
  readonly servers: number;
  /** Command lines that follow each other, so many at a time. */
  readonly commandLines: number;
  readonly durationMs: number;
  /** @defaultValue overlayfs */
  readonly provider?: ProviderUnderTest;
}

export interface CrowdResult {
  readonly calls: number;
  readonly commands: number;
  /** Revisions and milestones that a client was told of. */
  readonly acknowledged: number;
  /** Everything that must not be; empty when all is well. */
  readonly problems: readonly string[];
}

/** Sandboxes that several servers work in at once. */
const SHARED = ['shared-0', 'shared-1', 'shared-2'];
/** Codes by which one of many is told to wait, or that another was faster. */
const EXPECTED = new Set([
  'BUSY',
  'SANDBOX_ACTIVE',
  'SANDBOX_BUSY',
  'SANDBOX_EXISTS',
  'SANDBOX_NOT_FOUND',
  'SANDBOX_DELETING',
  'CONFLICT',
]);
const CLI = new URL('../../../cli/src/bin.ts', import.meta.url).pathname;

/** Many servers and command lines work on one repository at once; then everything that was acknowledged is looked for. */
export async function runCrowd(options: CrowdOptions): Promise<CrowdResult> {
  const { servers, commandLines, durationMs, provider = 'overlayfs' } = options;
  await using fixture = faultFixture(undefined, undefined, provider);
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: fixture.directory,
    LITTERBOX_HOME: fixture.stateDirectory,
    LC_ALL: 'C.UTF-8',
    LITTERBOX_PROVIDER: provider,
    ...engineEnvironment(),
  };
  const problems: string[] = [];
  const counts = { calls: 0, commands: 0 };
  await fixture.once(async (litterbox) => {
    for (const name of SHARED) await litterbox.create({ name });
  });
  const endMs = performance.now() + durationMs;
  const isOver = () => performance.now() >= endMs;

  const work = async (index: number) => {
    const agent = await connectAgent({ repository: fixture.repository, environment, args: ['--share'] });
    try {
      for (let round = 0; !isOver(); round += 1) await agentRound(fixture, agent, index, round, counts, problems);
    } finally {
      await agent[Symbol.asyncDispose]();
      if (agent.stderr() !== '') problems.push(`server ${index} said: ${agent.stderr().slice(0, 500)}`);
    }
  };
  const command = async (index: number) => {
    for (let round = 0; !isOver(); round += 1) {
      for (const args of wordsOf(index, round)) {
        const { code, stderr } = await litterbox(fixture.repository, environment, args);
        counts.commands += 1;
        const found = /"code":"([A-Z_]+)"/.exec(stderr)?.[1];
        if (code !== 0 && !(found !== undefined && EXPECTED.has(found)))
          problems.push(`litterbox ${args.join(' ')} ended with ${code}: ${stderr.slice(0, 300)}`);
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: servers }, (_, index) => work(index)),
    ...Array.from({ length: commandLines }, (_, index) => command(index)),
  ]);
  problems.push(...(await violations(fixture)));
  return { ...counts, acknowledged: fixture.acknowledged.size, problems };
}

/** What an agent does in a while: in a sandbox of its own and in one that others work in too. */
async function agentRound(
  { acknowledged }: FaultFixture,
  agent: AgentClient,
  index: number,
  round: number,
  counts: { calls: number },
  problems: string[],
): Promise<void> {
  const call = async (name: string, input: Record<string, unknown>) => {
    counts.calls += 1;
    const { isError, meta, facts, text } = await agent.call(name, input);
    if (isError && !EXPECTED.has(String(meta['code']))) problems.push(`${name} failed: ${text.slice(0, 300)}`);
    const { commit } = (meta['revision'] ?? facts['milestone'] ?? {}) as { commit?: string };
    if (commit !== undefined) acknowledged.add(commit);
    return { isError, text };
  };
  const own = `own-${index}`;
  if (round === 0) await call('sandbox-create', { name: own });
  const mark = `${index} ${round}`;
  await call('write', { sandbox: own, path: `src/${round % 20}.txt`, content: `${mark}\n` });
  const read = await call('read', { sandbox: own, path: `src/${round % 20}.txt` });
  if (!read.isError && read.text !== `${mark}\n`)
    problems.push(`${own} holds ${JSON.stringify(read.text)}, not ${mark}`);
  await call('bash', { sandbox: own, command: `echo ${mark} >>log.txt; ls | wc -l` });
  const shared = SHARED[(index + round) % SHARED.length] ?? '';
  await call('bash', { sandbox: shared, command: `printf '%s\\n' '${mark}' >>crowd.txt` });
  await call('grep', { sandbox: shared, pattern: `^${mark}$`, path: 'crowd.txt' });
  if (round % 5 === 4) await call('sandbox-milestone', { sandbox: own, message: `Round ${mark}` });
  if (round % 7 === 6) await call('sandbox-list', {});
}

/** What people type meanwhile. */
function wordsOf(index: number, round: number): readonly (readonly string[])[] {
  const name = `typed-${index}-${round}`;
  return [
    ['create', name],
    ['run', name, '--', 'sh', '-c', 'echo typed >typed.txt'],
    ['list'],
    ['log', SHARED[round % SHARED.length] ?? '', '-n', '3'],
    ['diff', name, '--stat'],
    ['delete', name, '--force'],
  ];
}

async function litterbox(
  repository: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const words = ['--no-warnings', '--conditions=@litterbox/source', CLI, '--json', ...args];
  const child = spawn(process.execPath, words, {
    cwd: repository,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}
