import { spawn } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { command } from './command.mjs';

const HERE = import.meta.dirname;
const START_MS = 60_000;

/** Installs the registry's program beside this file, by its own lock and without any of its scripts. */
export async function installRegistry(env) {
  const stamp = join(HERE, 'node_modules/.litterbox');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > statSync(join(HERE, 'package-lock.json')).mtimeMs) return;
  const words = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  await command(['npm', ...words], { cwd: HERE, env, limitMs: 300_000 });
  writeFileSync(stamp, '');
}

/**
 * A registry of its own on loopback, which holds nothing. Ours are only those that are published to it; all others it gets from
 * where npm on this machine gets them.
 *
 * @param {{ directory: string, upstream: string, authorities?: string, ours: string[], env: Record<string, string> }} options
 *   `directory` is empty; `authorities` is a file of certificates to trust besides
 * @returns {Promise<{ url: string, token: string } & AsyncDisposable>}
 */
export async function startRegistry({ directory, upstream, authorities, ours, env }) {
  const port = await freePort();
  const config = join(directory, 'config.yaml');
  // YAML takes JSON.
  writeFileSync(
    config,
    JSON.stringify({
      storage: join(directory, 'storage'),
      auth: { htpasswd: { file: join(directory, 'users'), max_users: 1 } },
      uplinks: { machine: { url: upstream, timeout: '60s', maxage: '1d', max_fails: 1000 } },
      packages: {
        ...Object.fromEntries(ours.map((name) => [name, { access: '$all', publish: '$authenticated' }])),
        '**': { access: '$all', proxy: 'machine' },
      },
      server: { keepAliveTimeout: 60 },
      max_body_size: '100mb',
      web: { enable: false },
      log: { type: 'stdout', format: 'json', level: 'warn' },
    }),
  );
  const program = join(HERE, 'node_modules/verdaccio/bin/verdaccio');
  const child = spawn(process.execPath, [program, '--config', config, '--listen', `127.0.0.1:${port}`], {
    cwd: directory,
    env: { ...env, NODE_ENV: 'production', ...(authorities && { NODE_EXTRA_CA_CERTS: authorities }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const dispose = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-20_000);
    });
  const url = `http://127.0.0.1:${port}/`;
  try {
    const deadline = Date.now() + START_MS;
    while (!(await answers(url))) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`The registry does not start:\n${said}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const answer = await fetch(`${url}-/user/org.couchdb.user:litterbox`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'litterbox', password: crypto.randomUUID() }),
    });
    const { token } = await answer.json();
    if (!token) throw new Error(`The registry takes no user: ${answer.status}\n${said}`);
    return { url, token, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function answers(url) {
  return await fetch(`${url}-/ping`).then(
    (answer) => answer.ok,
    () => false,
  );
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
