// npm run test:agents [-- --keep] [--only claude]: the clients that people use, at work in sandboxes, without any network.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';
import { AGENT_CLIENTS, type AgentClient, type Limit } from './agent-client.ts';
import { checkDrive, eraOf } from './check-drive.ts';
import { type Drive, drive } from './drive.ts';
import { lockInstall, versionOf } from './lock-install.ts';
import { tableOf, withMarkedPart } from './marked-part.ts';
import type { Plot } from './plot.ts';
import { mendAdd, wrongName } from './plots.ts';
import { reviewAndMerge } from './review.ts';
import { scene } from './scene.ts';

const PAGE = new URL('../../../../docs/agent-clients.md', import.meta.url);
const INSIDE = 'LITTERBOX_AGENTS_INSIDE';
const HEAD =
  'client|MCP|what was driven|its own tools|result|turns of the model|seconds|our tools, bytes|answers, bytes|date'.split(
    '|',
  );
const PLOTS: Readonly<Record<string, () => Plot>> = {
  'the whole job': mendAdd,
  'the whole job, with wrong names first': wrongName,
};

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false }, only: { type: 'string' } } });
const install = process.env[INSIDE] ?? lockInstall('clients', 'LITTERBOX_AGENT_CLIENTS');
if (process.env[INSIDE] === undefined) process.exitCode = runWithoutNetwork();
else await main();

/** This program again, in a network namespace that has nothing but a loopback of its own. */
function runWithoutNetwork(): number {
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status, error } = spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...self], {
    env: { ...process.env, [INSIDE]: install },
    stdio: 'inherit',
  });
  if (error) throw error;
  return status ?? 1;
}

async function main(): Promise<void> {
  const interfaces = Object.keys(networkInterfaces());
  if (interfaces.join() !== 'lo')
    throw new Error(`There is a network here: ${interfaces.join(', ')}. Run this as root.`);
  const rows: (readonly (string | number)[])[] = [];
  for (const client of AGENT_CLIENTS.filter(({ id }) => values.only === undefined || id === values.only)) {
    for (const [index, name] of Object.keys(PLOTS).entries()) {
      const limit = client.limits[index % client.limits.length];
      if (limit) rows.push(await played(client, name, limit));
    }
  }
  const table = tableOf(HEAD, rows);
  console.log(table);
  if (values.keep) writeFileSync(PAGE, withMarkedPart(readFileSync(PAGE, 'utf8'), 'test:agents', table));
}

async function played(client: AgentClient, name: string, limit: Limit): Promise<readonly (string | number)[]> {
  const title = `${client.title} ${versionOf(install, client.name)}`;
  using place = scene();
  const plot = PLOTS[name]?.();
  if (!plot) throw new Error(`no plot ${name}`);
  const drove = await drive(client, install, { limit, plot, scene: place });
  const result = resultOf(`${title}, ${name}`, drove, () => {
    checkDrive(client, limit, place, drove);
    reviewAndMerge(place);
  });
  const { tools, results, turns } = drove.talk;
  const own = tools.filter(({ ours }) => ours === undefined).length;
  const bytes = tools.reduce((sum, tool) => sum + (tool.ours === undefined ? 0 : tool.bytes), 0);
  const answers = results.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const limited = `${own} under \`${limit.args.join(' ').replace(/ $/, ' ""')}\``;
  const date = new Date().toISOString().slice(0, 10);
  return [title, eraOf(place), name, limited, result, turns, drove.seconds, bytes, answers, date];
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
