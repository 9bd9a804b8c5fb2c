// npm run docs:tokens: what a model is sent by this server and by others, counted in one run on one project.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_CLIENTS } from './agent-client.ts';
import { drive } from './drive.ts';
import { lockInstall, versionOf } from './lock-install.ts';
import { tableOf, withMarkedPart } from './marked-part.ts';
import type { Plot } from './plot.ts';
import { PROJECT } from './plots.ts';
import { agentFixture } from './agent-fixture.ts';
import { ENCODING, type TokenCounter, tokenCounter } from './token-counter.ts';
import { type ServerWords, tokenServer } from './token-server.ts';
import {
  commandServerWays,
  desktopCommanderWays,
  FILES,
  fileServerWays,
  litterboxWays,
  type Task,
  TASKS,
  type Ways,
} from './typical-work.ts';
import { withoutNetwork } from './without-network.ts';

const PAGE = new URL('../../../../docs/token-economy.md', import.meta.url);
const SANDBOX = 'measured';

/** A server, and how it does the tasks; without ways only its list of tools is counted. */
interface Entry {
  readonly title: string;
  readonly words: ServerWords;
  readonly ways?: Ways;
}

/** A client's own tools for work on files and for commands. */
const OWN_TOOLS: Readonly<Record<string, readonly string[]>> = {
  claude: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
  codex: ['exec_command', 'write_stdin', 'view_image'],
};

const TASK_LIST = Object.entries(TASKS) as readonly (readonly [Task, (text: string) => boolean])[];

type Row = readonly (string | number)[];

await withoutNetwork(
  () => [lockInstall('peers', 'LITTERBOX_TOKEN_PEERS'), lockInstall('clients', 'LITTERBOX_AGENT_CLIENTS')],
  async (peers = '', clients = '') => {
    const count = tokenCounter(peers);
    const { lists, answers } = await ofServers(peers, count);
    const part = [
      `Counted on ${new Date().toISOString().slice(0, 10)}, tokens of ${ENCODING} (gpt-tokenizer ${versionOf(peers, 'gpt-tokenizer')}).`,
      '## Lists of tools',
      tableOf(
        ['server', 'tools', 'sent to the model, bytes', 'tokens', 'instructions, tokens', '`tools/list`, bytes'],
        lists,
      ),
      "## A client's own tools",
      tableOf(
        ['client', 'its own tools', 'tokens', 'those for files and commands', 'tokens'],
        await ofClients(clients, count),
      ),
      '## Answers',
      tableOf(['tokens of the answer to', ...answers.titles], answers.rows),
    ].join('\n\n');
    console.log(part);
    writeFileSync(PAGE, withMarkedPart(readFileSync(PAGE, 'utf8'), 'docs:tokens', part));
  },
);

async function ofServers(peers: string, count: TokenCounter) {
  await using fixture = agentFixture({ files: FILES, programs: {} });
  const { repository } = fixture.scratch;
  const made = fixture.litterbox('create', SANDBOX);
  if (made.status !== 0) throw new Error(made.stderr);
  const lists: Row[] = [];
  const columns: (readonly [title: string, cells: Row])[] = [];
  for (const { title, words, ways } of entries(peers, repository, fixture.environment)) {
    await using server = await tokenServer(words);
    const { tools, shown, instructions, listed } = server;
    lists.push([title, tools, Buffer.byteLength(shown), count(shown), count(instructions), Buffer.byteLength(listed)]);
    if (!ways) continue;
    const cells: (string | number)[] = [];
    for (const [task, whole] of TASK_LIST) cells.push(await cellOf(ways[task]?.(server), whole, count));
    columns.push([title, cells]);
  }
  const titles = columns.map(([title]) => title);
  const rows = TASK_LIST.map(([task], index) => [task, ...columns.map(([, cells]) => cells[index] ?? '')]);
  return { lists, answers: { titles, rows } };
}

async function cellOf(answer: Promise<string> | undefined, whole: (text: string) => boolean, count: TokenCounter) {
  if (answer === undefined) return 'no tool';
  const text = await answer;
  return whole(text) ? count(text) : `${count(text)}, not all`;
}

function entries(peers: string, cwd: string, environment: ServerWords['environment']): readonly Entry[] {
  const ours = (title: string, ways: Ways | undefined, ...args: readonly string[]): Entry => ({
    title,
    words: { command: 'litterbox', args: ['mcp', ...args], cwd, environment },
    ...(ways && { ways }),
  });
  const peer = (name: string, program: string, ways: Ways | undefined, ...args: readonly string[]): Entry => ({
    title: `${name} ${versionOf(peers, name)}`,
    words: { command: process.execPath, args: [join(peers, 'node_modules', name, program), ...args], cwd, environment },
    ...(ways && { ways }),
  });
  return [
    ours('litterbox mcp', litterboxWays(SANDBOX)),
    ours('litterbox mcp --tools roadmap', undefined, '--tools', 'roadmap'),
    ours('litterbox mcp --sandbox NAME', undefined, '--sandbox', SANDBOX),
    peer('@modelcontextprotocol/server-filesystem', 'dist/index.js', fileServerWays(cwd), cwd),
    peer('@wonderwhy-er/desktop-commander', 'dist/index.js', desktopCommanderWays(cwd), '--no-onboarding'),
    peer('mcp-server-commands', 'build/index.js', commandServerWays),
    peer('mcp-server-docker', 'dist/index.js', undefined),
    peer('just-bash-mcp', 'dist/index.js', undefined),
  ];
}

async function ofClients(install: string, count: TokenCounter): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const client of AGENT_CLIENTS) {
    await using fixture = agentFixture({ files: PROJECT, programs: {} });
    const { talk } = await drive(client, install, {
      limit: { args: [], allows: () => true },
      plot: nothing(),
      fixture: fixture,
    });
    const own = talk.tools.filter(({ ours }) => ours === undefined);
    const wanted = own.filter(({ name }) => OWN_TOOLS[client.id]?.includes(name));
    const tokens = (tools: typeof own) => tools.reduce((sum, { json }) => sum + count(json), 0);
    const names = wanted.map(({ name }) => name).join(', ');
    rows.push([`${client.title} ${versionOf(install, client.name)}`, own.length, tokens(own), names, tokens(wanted)]);
  }
  return rows;
}

// oxlint-disable-next-line require-yield
function* nothing(): Plot {
  return 'There is nothing to do.';
}
