import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { launchKeeper } from '@litterbox/mcp/start';
import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';
import type { Scenario } from '../bench.ts';
import { startDocker } from '../docker-engine.ts';
import { interleaved, timed } from '../measure.ts';

/** Issue E.2: a third of the throughput of a direct connection, and a millisecond more a request. */
const THROUGHPUT_RATIO = 3;
const ADDED_MS = 1;
const BYTES = 2 ** 30;
const OUTSIDE = 18_080;

const SERVER = `const chunk = Buffer.alloc(65536);
require('node:http').createServer((request, response) => {
  let left = Number(request.url.slice(1));
  const send = () => {
    for (; left > 0; left -= chunk.length) if (!response.write(chunk)) { left -= chunk.length; return response.once('drain', send); }
    response.end();
  };
  send();
}).listen(Number(process.env.LITTERBOX_PORT_WEB), '127.0.0.1', () => console.log('up'));`;

/** The same server inside, through its port, and outside, without. */
export const measurePorts: Scenario = async (bench) => {
  const { repositories, ground, findings, stateDirectory } = bench;
  process.env['LITTERBOX_HOME'] = stateDirectory('small');
  const server = await startOutside();
  try {
    await measureOn(bench, '');
    const engine = await startDocker(ground);
    if (typeof engine === 'string') return findings.lacks('E.2', 'ports on Docker', engine);
    await using _engine = engine;
    process.env['DOCKER_HOST'] = `unix://${engine.socket}`; // the keeper of a sandbox is a program of its own
    try {
      await measureOn(bench, 'Docker');
    } finally {
      delete process.env['DOCKER_HOST'];
    }
  } finally {
    server.kill('SIGKILL');
    rmSync(join(repositories.small, '.litterbox.toml'), { force: true });
  }
};

/** @param engine empty: on namespaces */
async function measureOn(bench: Parameters<Scenario>[0], engine: '' | 'Docker'): Promise<void> {
  const { repositories, scale, findings, stateDirectory } = bench;
  const where = engine === '' ? '' : `, on ${engine}`;
  writeFileSync(
    join(repositories.small, '.litterbox.toml'),
    `${engine === '' ? '' : 'provider = "docker"\n'}[container.ports]\nweb = 8080\n[container.services.web]\ncommand = ["node", "-e", ${JSON.stringify(SERVER)}]\nhealth = { port = "web" }\n`,
  );
  await using litterbox = createLitterbox({
    repo: repositories.small,
    providers: [engine === '' ? overlayfs : docker],
    stateDirectory: stateDirectory('small'),
    launchKeeper,
  });
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  const sandbox = await litterbox.create({ name: 'ports' });
  const [port] = await sandbox.ports();
  if (!port) throw new Error('The sandbox has no port.');
  const bulk = await interleaved(
    { rounds: scale.rounds.common, warmUps: 1 },
    { inside: () => fetched(port.outside, BYTES), outside: () => fetched(OUTSIDE, BYTES) },
  );
  findings.row({
    target: 'E.2',
    what: `1 GiB through a port of a sandbox${where}`,
    measured: bulk.inside,
    against: 'the same server without a sandbox',
    floor: bulk.outside,
    limit: { of: 'ratio', atMost: THROUGHPUT_RATIO },
  });
  for (const [what, keepAlive] of [
    ['a request on an open connection', true],
    ['a request on a new connection', false],
  ] as const) {
    const agents = [new Agent({ keepAlive, maxSockets: 1 }), new Agent({ keepAlive, maxSockets: 1 })] as const;
    const plan = { rounds: scale.rounds.fast * 3, warmUps: 100 };
    const { inside, direct } = await interleaved(plan, {
      inside: () => fetched(port.outside, 0, agents[0]),
      direct: () => fetched(OUTSIDE, 0, agents[1]),
    });
    for (const agent of agents) agent.destroy();
    findings.row({
      target: 'E.2',
      what: `${what}, what a port of a sandbox adds${where}`,
      measured: inside.map((value, index) => Math.max(0, value - (direct[index] ?? 0))),
      against: 'the same server without a sandbox',
      floor: direct,
      limit: { of: 'value', atMost: ADDED_MS },
    });
  }
  await litterbox.delete('ports', { force: true });
}

async function startOutside(): Promise<ChildProcess> {
  const server = spawn(process.execPath, ['-e', SERVER], {
    env: { LITTERBOX_PORT_WEB: String(OUTSIDE) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  return server;
}

function fetched(port: number, bytes: number, agent?: Agent): Promise<number> {
  return timed(
    () =>
      new Promise((resolve, reject) => {
        get({ host: '127.0.0.1', port, path: `/${bytes}`, ...(agent && { agent }) }, (response) => {
          response.on('end', resolve).resume();
        }).on('error', reject);
      }),
  );
}
