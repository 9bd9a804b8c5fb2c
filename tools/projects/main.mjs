// npm run test:projects [-- [--part PART] [--rounds N] NAME...]: builds and tests programs by others outside and in a sandbox, compares
// how they end, and writes docs/projects.md. As root, where the kernel has overlays. Their sources come from Debian and npm and are kept
// in a directory outside of this repository.
import { spawn, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fetchTools, fetchTree } from './fetch.mjs';
import { PROJECTS } from './projects.mjs';
import { writePage } from './write-page.mjs';

const ROOT = join(import.meta.dirname, '../..');
const RECORD = join(ROOT, 'docs/projects.json');
const LIMIT_MS = 8 * 60_000;

const { values, positionals } = parseArgs({
  options: { part: { type: 'string' }, rounds: { type: 'string', default: '1' }, log: { type: 'boolean' } },
  allowPositionals: true,
});
const chosen = PROJECTS.filter(
  ({ name, part }) =>
    (values.part === undefined || part === values.part) && (positionals.length === 0 || positionals.includes(name)),
);
if (chosen.length === 0) {
  console.error(`test:projects: there are ${PROJECTS.map(({ name }) => JSON.stringify(name)).join(', ')}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'litterbox-projects-'));
chmodSync(scratch, 0o755);
const tools = fetchTools();
const home = join(scratch, 'home');
mkdirSync(home);
const git = (cwd, ...args) =>
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', '-c', 'core.autocrlf=false', ...args],
    {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 28,
    },
  );

/** @returns {Promise<{ code: number, log: string, seconds: number }>} */
async function run(argv, cwd, env) {
  const startMs = performance.now();
  const child = spawn(argv[0], argv.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => chunks.push(bytes));
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, LIMIT_MS);
  const code = await new Promise((resolve) => child.once('close', (status, signal) => resolve(signal ? 137 : status)));
  clearTimeout(timer);
  return { code, log: Buffer.concat(chunks).toString(), seconds: (performance.now() - startMs) / 1000 };
}

const median = (numbers) => [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)];
const ended = ({ code, passed, failed }) => `${code}, ${passed} passed, ${failed} failed`;

async function compare(project) {
  const repository = join(scratch, 'repository');
  execFileSync('cp', ['-r', fetchTree(project), repository]);
  git(repository, 'init', '-q', '-b', 'main');
  git(repository, 'add', '-Af');
  git(repository, 'commit', '-qm', 'as fetched');
  const nodePath = join(ROOT, 'node_modules/.bin');
  const places = (project.path ?? []).map((path) =>
    path.startsWith('~/') ? join(homedir(), path.slice(2)) : join(tools, path),
  );
  const searchPath = [...places, join(ROOT, 'node_modules/node/bin'), '/usr/local/bin', '/usr/bin', '/bin']
    .filter(existsSync)
    .join(':');
  const needsDeps = existsSync(join(repository, 'deps.tgz'));
  const outside = { PATH: searchPath, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb', USER: 'root' };
  // rustup finds its tool chains in the person's home.
  if (project.path?.some((path) => path.startsWith('~/.cargo'))) outside.RUSTUP_HOME = join(homedir(), '.rustup');
  const litterbox = {
    PATH: searchPath,
    HOME: project.path?.some((path) => path.startsWith('~/')) ? homedir() : home,
    LITTERBOX_HOME: join(scratch, 'state'),
  };
  const cli = (...args) => [join(nodePath, 'node'), join(ROOT, 'packages/cli/bin/litterbox.cjs'), ...args];
  const rounds = { outside: [], inside: [] };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    // As a sandbox has one of its own: caches in it are cold.
    rmSync(home, { recursive: true, force: true });
    const copy = join(scratch, 'copy');
    for (const directory of [home, copy]) mkdirSync(directory);
    execFileSync('sh', ['-c', 'git archive HEAD | tar xf - -C "$1"', 'sh', copy], { cwd: repository });
    if (needsDeps) execFileSync('tar', ['xzf', 'deps.tgz'], { cwd: copy });
    rounds.outside.push(await run(['bash', '-c', project.run], copy, outside));
    rmSync(copy, { recursive: true });
    const setup = needsDeps ? ['--setup', 'tar xzf deps.tgz'] : [];
    const made = await run(cli('create', 'project', ...setup), repository, litterbox);
    if (made.code !== 0) throw new Error(`${project.name}: create: ${made.log.slice(-2000)}`);
    rounds.inside.push(
      await run(
        cli('run', 'project', '--timeout', `${LIMIT_MS / 1000}s`, '--', 'bash', '-c', project.run),
        repository,
        litterbox,
      ),
    );
    await run(cli('delete', 'project', '--force'), repository, litterbox);
  }
  rmSync(repository, { recursive: true });
  rmSync(join(scratch, 'state'), { recursive: true, force: true });
  const told = (list) => {
    const { code, log } = list.at(-1);
    return { code, ...project.count(log), seconds: Number(median(list.map(({ seconds }) => seconds)).toFixed(1)) };
  };
  const row = { outside: told(rounds.outside), inside: told(rounds.inside), rounds: rounds.inside.length };
  const isAlike = ended(row.outside) === ended(row.inside);
  if (!isAlike || row.outside.passed === 0 || values.log) {
    for (const side of ['outside', 'inside'])
      console.log(`== ${project.name}, ${side}\n${rounds[side].at(-1).log.slice(-3000)}`);
  }
  return row;
}

let failed = 0;
const head = git(ROOT, 'rev-parse', '--short', 'HEAD').toString().trim();
for (const project of chosen) {
  let row;
  try {
    row = await compare(project);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${project.name}: ${String(error.stderr ?? error.message).slice(-2000)}`);
    rmSync(join(scratch, 'repository'), { recursive: true, force: true });
    rmSync(join(scratch, 'copy'), { recursive: true, force: true });
    continue;
  }
  const isAlike = ended(row.outside) === ended(row.inside);
  // Two builds that fail alike show nothing.
  const isEmpty = row.outside.passed === 0;
  if (isEmpty || (!isAlike && project.explained === undefined)) failed += 1;
  console.log(
    `${isEmpty ? 'NOTHING' : isAlike ? 'alike  ' : 'DIFFERS'} ${project.name}: outside ${ended(row.outside)} in ${row.outside.seconds} s, inside ${ended(row.inside)} in ${row.inside.seconds} s`,
  );
  const rows = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {};
  rows[project.name] = { ...row, date: new Date().toISOString().slice(0, 10), commit: head };
  writeFileSync(
    RECORD,
    `${JSON.stringify(Object.fromEntries(PROJECTS.flatMap(({ name }) => (rows[name] ? [[name, rows[name]]] : []))), undefined, 2)}\n`,
  );
  writePage(PROJECTS, rows, join(ROOT, 'docs/projects.md'));
}
rmSync(scratch, { recursive: true, force: true });
console.log(`${chosen.length - failed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;
