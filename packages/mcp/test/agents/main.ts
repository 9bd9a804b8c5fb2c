// npm run test:agents [-- --keep] [--only claude] [--provider docker] [--image NAME] [--transcripts DIR] [--faults] [--inside] [--acp] [--harness]: the clients that people use, at work in sandboxes, without any network.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agentsOf } from '@litterbox/core';
import { AGENT_CLIENTS, type AgentClient, type Limit } from './agent-client.ts';
import { checkDrive, eraOf } from './check-drive.ts';
import { type Drive, drive } from './drive.ts';
import { driveSdk } from './drive-sdk.ts';
import { driveHarness } from './drive-harness.ts';
import { driveInside, type InsideClient } from './drive-inside.ts';
import { driveSeat, type SeatedClient } from './drive-seat.ts';
import { driveFault, type Fault, FAULTS, MACHINE_FAULTS } from './fails-closed.ts';
import { isContainer, isPlace, otherMachine, type Place, placeOn, PLACES } from './place-on.ts';
import { INSIDE_CLIENTS } from './inside-clients.ts';
import { SEATED_CLIENTS } from './seated-clients.ts';
import { giveDependencies } from './give-dependencies.ts';
import { lockInstall, versionOf } from './lock-install.ts';
import { tableOf, withMarkedPart } from './marked-part.ts';
import { NEEDY_STORY, STORIES, type Story, WHOLE } from './plots.ts';
import { reviewAndMerge } from './review.ts';
import { transcriptOf } from './transcript.ts';
import { agentFixture } from './agent-fixture.ts';
import { withoutNetwork } from './without-network.ts';

const PAGE = new URL('../../../../docs/agent-clients.md', import.meta.url);
const HEAD =
  'client|MCP|what was driven|its own tools|result|turns of the model|seconds|our tools, bytes|answers, bytes|date'.split(
    '|',
  );

const FAULT_HEAD = ['client', 'what goes wrong', 'when', 'result', 'seconds', 'what the model was told last'];
const SEAT_HEAD = ['client', 'where', 'seconds', 'date'];

/** Clients that `agent install --hands` is for, and how they are started then. */
const INSTALLED: Readonly<Record<string, readonly string[]>> = { codex: ['--sandbox', 'danger-full-access'] };

/** The example that works with a client by its SDK. */
const EXAMPLES: Readonly<Record<string, string>> = { claude: 'claude-agent-sdk', codex: 'codex-sdk' };

const TRANSCRIPTS = new URL('../../../../test-output/transcripts', import.meta.url).pathname;
const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    only: { type: 'string' },
    faults: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
    acp: { type: 'boolean', default: false },
    harness: { type: 'boolean', default: false },
    provider: { type: 'string', multiple: true, default: ['overlayfs'] },
    image: { type: 'string' },
    transcripts: { type: 'string', default: TRANSCRIPTS },
  },
});
const places = values.provider.map((name) => {
  if (isPlace(name)) return name;
  throw new Error(`--provider is one of ${PLACES.join(', ')}, and not ${name}.`);
});
await withoutNetwork(
  () => [
    ...(values.harness ? [lockInstall('harness', 'LITTERBOX_AGENT_HARNESS')] : []),
    lockInstall('clients', 'LITTERBOX_AGENT_CLIENTS'),
    lockInstall('sdks', 'LITTERBOX_AGENT_SDKS', '--omit=optional'), // the programs are those of the clients
  ],
  main,
);

async function main(install = '', sdks = ''): Promise<void> {
  if (values.harness) return await harness(install);
  if (values.faults) return await faults(install);
  if (values.inside || values.acp) return await inside(install);
  const isChosen = ({ id }: { readonly id: string }) => values.only === undefined || id === values.only;
  const rows: (readonly (string | number)[])[] = [];
  for (const client of places.includes('overlayfs') ? AGENT_CLIENTS.filter(isChosen) : []) {
    for (const [index, story] of STORIES.entries()) {
      const limit = client.limits[index % client.limits.length];
      if (limit) rows.push(await played(client, install, story, limit));
    }
  }
  const seated: (readonly (string | number)[])[] = [];
  for (const seat of SEATED_CLIENTS.filter(({ client }) => isChosen(client))) {
    for (const place of places) seated.push(await seatedRow(seat, install, place));
    if (!places.includes('overlayfs')) continue;
    const words = INSTALLED[seat.client.id];
    if (words) seated.push(await seatedRow(seat, install, 'overlayfs', words));
    if (EXAMPLES[seat.client.id] !== undefined) seated.push(await sdkRow(seat, install, sdks));
  }
  const [table, seats] = [tableOf(HEAD, rows), tableOf(SEAT_HEAD, seated)];
  console.log(`${table}\n${seats}`);
  if (!values.keep) return;
  const page = readFileSync(PAGE, 'utf8');
  const worked = rows.length > 0 ? withMarkedPart(page, 'test:agents', table) : page;
  writeFileSync(PAGE, withMarkedPart(worked, 'test:agents, hands', seats));
}

/** Each agent by its own program in a sandbox, with the key of its model outside. */
async function inside(install: string): Promise<void> {
  const rows: (readonly (string | number)[])[] = [];
  const isChosen = ({ client }: InsideClient) =>
    (values.only === undefined || client.id === values.only) &&
    (!values.acp || agentsOf({})[client.id]?.acp !== undefined);
  for (const agent of INSIDE_CLIENTS.filter(isChosen)) {
    const title = `${agent.client.title} ${versionOf(install, agent.client.name)}`;
    const row: (string | number)[] = [title];
    for (const place of places) row.push(await insideAt(place, agent, title, install));
    rows.push(row);
  }
  const table = tableOf(['seconds', ...places], rows);
  console.log(table);
  if (values.keep && !values.acp)
    writeFileSync(PAGE, withMarkedPart(readFileSync(PAGE, 'utf8'), 'test:agents, inside', table));
}

/** Claude Code as the AI SDK's harness starts it. */
async function harness(install: string): Promise<void> {
  await using fixture = agentFixture({ files: { 'greet.sh': 'echo "Helo, $1"\n' }, programs: {} });
  const { talk, seconds } = await driveHarness(install, fixture);
  const title = `@ai-sdk/harness-claude-code ${versionOf(install, '@ai-sdk/harness-claude-code')}`;
  keepTranscript(title, { talk });
  console.log(
    tableOf(['harness', 'agent', 'seconds'], [[title, versionOf(install, '@anthropic-ai/claude-code'), seconds]]),
  );
}

/** Gives the seconds that it took. */
async function insideAt(place: Place, agent: InsideClient, title: string, install: string): Promise<string | number> {
  await using fixture = agentFixture(isContainer(place) ? WHOLE : NEEDY_STORY);
  try {
    const { talk, seconds } = await driveInside(agent, install, fixture, place, values.acp);
    keepTranscript(`${title}, inside on ${place}`, { talk });
    return seconds;
  } catch (error) {
    process.exitCode = 1;
    console.error(`FAILED ${title}, inside on ${place}: ${error instanceof Error ? error.message : String(error)}`);
    return '**failed**';
  }
}

/** Each agent and each fault: half an hour, and as much over SSH. */
async function faults(install: string): Promise<void> {
  const rows: (readonly (string | number)[])[] = [];
  for (const seat of SEATED_CLIENTS.filter(({ client }) => values.only === undefined || client.id === values.only)) {
    await using fixture = agentFixture(NEEDY_STORY);
    const there = places.includes('ssh') ? await otherMachine(fixture) : undefined;
    const tried = async (fault: Fault): Promise<readonly string[]> => {
      const row = [seat.client.title, fault.title, fault.at];
      try {
        const { told, seconds, methods } = await driveFault(seat, install, fixture, fault, there);
        rows.push([...row, 'nothing ran here', seconds, told.slice(0, 80)]);
        return methods;
      } catch (error) {
        process.exitCode = 1;
        console.error(`FAILED ${row.join(', ')}: ${error instanceof Error ? error.message : String(error)}`);
        rows.push([...row, '**failed**', 0, '']);
        return [];
      }
    };
    for (const fault of places.includes('ssh') ? MACHINE_FAULTS : FAULTS) await tried(fault);
    if (places.includes('ssh') || seat.client.id === 'claude') continue; // whose messages go another way
    for (const method of await tried(killedAt('-'))) await tried(killedAt(method));
  }
  console.log(tableOf(FAULT_HEAD, rows));
}

function killedAt(method: string): Fault {
  const title = method === '-' ? 'somebody listens' : `Litterbox is killed at ${method}`;
  return { title, at: 'after', inflict() {}, killAt: method };
}

async function seatedRow(
  seat: SeatedClient,
  install: string,
  place: Place,
  installed?: readonly string[],
): Promise<readonly (string | number)[]> {
  const way = installed ? ', installed' : '';
  const title = `${seat.client.title} ${versionOf(install, seat.client.name)}${way}`;
  const hasGit = !isContainer(place) || values.image !== undefined;
  const where = hasGit ? place : `${place}, BusyBox`;
  await using fixture = agentFixture(hasGit ? NEEDY_STORY : WHOLE);
  const date = new Date().toISOString().slice(0, 10);
  try {
    const start = { place: await placeOn(fixture, place, values.image), hasGit, ...(installed && { installed }) };
    const { talk, seconds } = await driveSeat(seat, install, fixture, start);
    keepTranscript(`${title}, hands in a sandbox on ${where}`, { talk });
    return [title, where, seconds, date];
  } catch (error) {
    process.exitCode = 1;
    const why = error instanceof Error ? error.message : String(error);
    console.error(`FAILED ${title}, hands in a sandbox on ${where}: ${why}`);
    return [title, where, '**failed**', date];
  }
}

async function sdkRow(seat: SeatedClient, clients: string, sdks: string): Promise<readonly (string | number)[]> {
  const example = EXAMPLES[seat.client.id] ?? '';
  const title = `${example}, ${seat.client.title} ${versionOf(clients, seat.client.name)}`;
  await using fixture = agentFixture(NEEDY_STORY);
  const date = new Date().toISOString().slice(0, 10);
  try {
    const { talk, seconds } = await driveSdk(seat, example, { clients, sdks }, fixture);
    keepTranscript(title, { talk });
    return [title, 'overlayfs', seconds, date];
  } catch (error) {
    process.exitCode = 1;
    console.error(`FAILED ${title}: ${error instanceof Error ? error.message : String(error)}`);
    return [title, 'overlayfs', '**failed**', date];
  }
}

async function played(
  client: AgentClient,
  install: string,
  story: Story,
  limit: Limit,
): Promise<readonly (string | number)[]> {
  const title = `${client.title} ${versionOf(install, client.name)}`;
  await using fixture = agentFixture(story);
  const drove = await drive(client, install, { limit, plot: story.plot(), fixture });
  const result = resultOf(`${title}, ${story.title}`, drove, () => {
    checkDrive(client, limit, fixture, drove);
    if (story.changes === 0) giveDependencies(fixture, drove.talk);
    else reviewAndMerge(fixture, story);
  });
  keepTranscript(`${title}, ${story.title}`, drove);
  const { tools, results, turns } = drove.talk;
  const own = tools.filter(({ ours }) => ours === undefined).length;
  const bytes = tools.reduce((sum, tool) => sum + (tool.ours === undefined ? 0 : Buffer.byteLength(tool.json)), 0);
  const answers = results.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const limited = `${own} under \`${limit.args.join(' ').replace(/ $/, ' ""')}\``;
  const date = new Date().toISOString().slice(0, 10);
  return [title, eraOf(fixture), story.title, limited, result, turns.length, drove.seconds, bytes, answers, date];
}

/** Whether it passed or not: a person reads it to see what a model sees. */
function keepTranscript(title: string, { talk }: Pick<Drive, 'talk'>): void {
  mkdirSync(values.transcripts, { recursive: true });
  const name = title.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-');
  writeFileSync(join(values.transcripts, `${name}.md`), transcriptOf(title, talk));
}

/** Runs the checks, and says loudly what they find. */
function resultOf(what: string, { talk, stdout, stderr }: Drive, check: () => void): string {
  try {
    check();
    return 'passed';
  } catch (error) {
    process.exitCode = 1;
    const [why = ''] = String(error instanceof Error ? error.message : error).split('\n');
    console.error(`FAILED ${what}: ${error instanceof Error ? error.message : String(error)}`);
    console.error([...talk.requests, ...talk.results, stdout, stderr].join('\n'));
    return `**failed**: ${why}`;
  }
}
