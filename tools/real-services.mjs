// npm run test:services [-- --provider docker|podman]: what people really run beside an agent, as services of a sandbox and through
// its ports: a Vite dev server with hot reload over a WebSocket, and PostgreSQL, while nothing inside reaches out. Installs Vite into
// a scratch directory, from the registry that npm is set up with; PostgreSQL is Debian's: that of this machine on namespaces
// (apt-get install postgresql), one in an image made for it (debootstrap) on an engine.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { podman } from '@litterbox/provider-podman';
import { createLitterbox } from 'litterbox';

const VITE = '8.3.8';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-services-'));
const repo = join(directory, 'repository');
const { values } = parseArgs({ options: { provider: { type: 'string', default: 'overlayfs' } } });
const provider = { overlayfs, docker, podman }[values.provider];
if (!provider) throw new Error(`--provider ${values.provider}: there are overlayfs, docker and podman`);
const IMAGE = 'litterbox-real-services:latest';
const root = provider === overlayfs ? '' : imageRoot();
const POSTGRES = '/usr/lib/postgresql';
const version = existsSync(root + POSTGRES)
  ? readdirSync(root + POSTGRES)
      .sort()
      .at(-1)
  : undefined;
if (version === undefined) throw new Error('PostgreSQL is missing: apt-get install -y postgresql');
const bin = `${POSTGRES}/${version}/bin`;
if (provider !== overlayfs) importImage();

mkdirSync(repo);
const file = (name, text) => writeFileSync(join(repo, name), text);
file('package.json', '{ "private": true, "type": "module" }\n');
file('index.html', '<!doctype html><script type="module" src="/main.js"></script>\n');
file('main.js', 'import.meta.hot?.accept();\nconsole.log(1);\n');
file(
  '.litterbox.toml',
  `${provider === overlayfs ? '' : `[container]\nbase-image = "${IMAGE}"\n`}[container.ports]
web = 5173
db = 5432

[container.services.db]
command = ["sh", "-c", "test -d /playground/db || ${bin}/initdb -D /playground/db -U agent --auth=trust || exit 1; exec ${bin}/postgres -D /playground/db -c unix_socket_directories= -c dynamic_shared_memory_type=mmap -p $LITTERBOX_PORT_DB"]
signals = { stop = "SIGINT", restart = "SIGHUP" }
health = { port = "db" }

[container.services.web]
command = ["node", "node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "5173", "--strictPort"]
health = { port = "web" }
after = ["db"]
`,
);
// A sandbox has no network: what it needs is in the repository.
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', `vite@${VITE}`], {
  cwd: repo,
  stdio: 'inherit',
  // npm of the machine with the Node of the machine, not with the one of this repository
  env: {
    ...process.env,
    PATH: process.env.PATH.split(':')
      .filter((one) => !one.includes('node_modules'))
      .join(':'),
  },
});
for (const args of [
  ['init', '-q', '-b', 'main'],
  ['add', '-A', '-f'],
  ['-c', 'user.name=Services', '-c', 'user.email=services@localhost', 'commit', '-q', '-m', 'one'],
])
  execFileSync('git', args, { cwd: repo });

try {
  await using litterbox = createLitterbox({ repo, providers: [provider], stateDirectory: join(directory, 'state') });
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  const sandbox = await litterbox.create({ name: 'real' });
  try {
    assert.deepEqual(sandbox.created.warnings, []);
    const ports = new Map((await sandbox.ports()).map(({ name, outside }) => [name, outside]));
    await vite(sandbox, `127.0.0.1:${ports.get('web')}`);
    await postgres(litterbox, sandbox, String(ports.get('db')));
    await nothingOut(sandbox);
  } catch (error) {
    for await (const { service, text } of sandbox.logs()) console.error(`--- ${service}\n${text}`);
    throw error;
  } finally {
    await litterbox.delete('real', { force: true });
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
  if (provider !== overlayfs)
    execFileSync(values.provider, ['image', 'rm', '--force', IMAGE], { env: engine(), stdio: 'ignore' });
}

/** A root file system with Debian's PostgreSQL and the Node that runs this. */
function imageRoot() {
  const made = join(directory, 'root');
  const targets = [
    'indextargets',
    '--format',
    '$(SITE)',
    'Created-By: Packages',
    'Codename: bookworm',
    'Component: main',
  ];
  const [mirror = ''] = execFileSync('apt-get', targets, { encoding: 'utf8' }).split('\n');
  execFileSync('debootstrap', ['--variant=minbase', '--include=postgresql', 'bookworm', made, mirror], {
    stdio: 'ignore',
  });
  copyFileSync(process.execPath, join(made, 'usr/local/bin/node'));
  return made;
}

function importImage() {
  const tar = join(directory, 'root.tar');
  execFileSync('tar', ['-c', '-f', tar, '-C', root, '--numeric-owner', '--exclude=./dev/*', '--exclude=./proc/*', '.']);
  execFileSync(values.provider, ['import', '-', IMAGE], {
    env: engine(),
    stdio: [openSync(tar, 'r'), 'ignore', 'inherit'],
  });
  rmSync(tar);
  rmSync(root, { recursive: true });
}

/** Podman's own command looks for the same service that the provider finds. */
function engine() {
  return { ...process.env, ...(process.env.CONTAINER_HOST && { CONTAINER_CONNECTION: undefined }) };
}

/** Each probe works on this machine, and none inside. */
async function nothingOut(sandbox) {
  const server = createServer((socket) => socket.end('outside\n')).listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address();
  const probe = (host, target) =>
    `node -e 'require("net").connect({host:"${host}",port:${target},timeout:2000}).on("data",(d)=>{console.log(String(d));process.exit()}).on("timeout",()=>{console.log("no");process.exit()}).on("error",()=>{console.log("no")})'`;
  try {
    const outside = await promisify(execFile)('sh', ['-c', probe('127.0.0.1', port)]);
    assert.match(outside.stdout, /outside/); // positive control
    const inside = await sandbox.run(probe('127.0.0.1', port));
    assert.equal(inside.stdout.trim(), 'no');
    for (const host of ['192.0.2.1', 'localhost', '169.254.169.254', 'example.org', '::ffff:192.0.2.1'])
      assert.equal((await sandbox.run(probe(host, port))).stdout.trim(), 'no', host);
    const { stdout } = await sandbox.run(
      probe('127.0.0.1', 5173).replace(
        '.on("data"',
        '.on("connect",()=>{console.log("connected");process.exit()}).on("data"',
      ),
    );
    assert.equal(stdout.trim(), 'connected'); // positive control: the probe itself works inside
  } finally {
    server.close();
  }
  console.log('ok: nothing inside reaches out');
}

async function vite(sandbox, at) {
  assert.match(await (await fetch(`http://${at}/`)).text(), /\/@vite\/client/);
  const client = await (await fetch(`http://${at}/@vite/client`)).text();
  const [, token = ''] = /wsToken\s*=\s*"([^"]+)"/.exec(client) ?? [];
  assert.match(await (await fetch(`http://${at}/main.js`)).text(), /console\.log\(1\)/);
  const socket = new WebSocket(`ws://${at}/?token=${token}`, 'vite-hmr');
  const messages = [];
  const update = new Promise((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('The WebSocket did not open.')));
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data));
      messages.push(message.type);
      if (message.type === 'update') resolve(message);
    });
  });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  await sandbox.files.write('main.js', 'import.meta.hot?.accept();\nconsole.log(2);\n');
  const timer = setTimeout(() => console.error(`no update came, only ${messages.join(', ')}`), 20_000);
  assert.equal((await update).updates[0].path, '/main.js');
  clearTimeout(timer);
  socket.close();
  console.log('ok: Vite serves, and reloads over a WebSocket when the agent writes');
}

async function postgres(litterbox, sandbox, port) {
  // Not synchronous: this program is what keeps the sandbox, and carries the connection.
  const ask = async (sql) => {
    const args = ['-h', '127.0.0.1', '-p', port, '-U', 'agent', '-d', 'postgres', '-Atc', sql];
    return (await promisify(execFile)('psql', args)).stdout.trim();
  };
  await ask('create table t (n int); insert into t select generate_series(1, 100000)');
  assert.equal(await ask('select sum(n) from t'), '5000050000');
  await sandbox.service('restart', 'db');
  assert.equal(await ask('select count(*) from t'), '100000');
  await litterbox.setRunState('real', 'stopped');
  await litterbox.setRunState('real', 'ready');
  await sandbox.service('start', 'db');
  assert.equal(await ask('select count(*) from t'), '100000');
  let log = '';
  for await (const { text } of sandbox.logs({ service: 'db' })) log += text;
  assert.match(log, /database system was shut down at/);
  assert.doesNotMatch(log, /was not properly shut down/);
  console.log('ok: PostgreSQL serves, reloads by its signal, and shuts down cleanly with the sandbox');
}
