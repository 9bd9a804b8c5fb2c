import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type SandboxId, type SourceRepository } from '@litterbox/core/provider';
import { all, begin, put, record, snapshot, GitFixture } from './git-fixture.ts';

const CHILD = new URL('kill-child.ts', import.meta.url).pathname;
const notGit = (path: string) => path === '.git' || path === 'slow.sh';

interface Job {
  readonly root: string;
  readonly id: SandboxId;
  readonly what: 'merge' | 'apply' | 'record';
  readonly content?: string;
  readonly times?: number;
  readonly autostash?: boolean;
}

function start(fixture: GitFixture, job: Job): ChildProcess {
  const args = ['--no-warnings', '--conditions=@litterbox/source', CHILD];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: {} });
  child.stdin?.end(JSON.stringify({ state: fixture.state, environment: fixture.environment, ...job }));
  return child;
}

async function finished(child: ChildProcess): Promise<{ output: string; errors: string }> {
  let output = '';
  let errors = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (errors += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return { output, errors };
}

/** Kills the child and every git it started, as a power cut would. */
function killAll(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch {
    // it was done
  }
}

/** A git that was killed leaves its own lock, which is named and which only the person may remove. */
async function reconciled(repository: SourceRepository): Promise<readonly string[]> {
  for (let locks = 0; locks < 3; locks++) {
    try {
      return await repository.reconcile();
    } catch (error) {
      expect(error).toMatchObject({ code: 'USER_REPO_LOCKED', details: { facts: { path: expect.any(String) } } });
      rmSync((error as { details: { facts: { path: string } } }).details.facts.path);
    }
  }
  return repository.reconcile();
}

test.each(['merge', 'apply'] as const)('%s killed anywhere is undone or done after reconcile', async (what) => {
  await using fixture = new GitFixture();
  const files = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`d${index % 7}/f${index}`, `old ${index}\n`]),
  );
  const root = fixture.repository({ ...files, mine: 'committed\n' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const changed = Object.fromEntries(
    Object.keys(files).map((path, index) => [path, index % 3 === 0 ? `new ${index}\n` : `old ${index}\n`]),
  );
  delete changed['d1/f1'];
  await record(repository, id, { ...changed, 'added/x': 'x\n', mine: 'committed\n' });
  put(root, 'mine', 'uncommitted\n');
  put(root, 'untracked', 'u\n');
  const before = snapshot(root, notGit);
  const pristine = join(fixture.directory, 'pristine');
  cpSync(root, pristine, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });

  // One run to its end says what the other legal state is and how long the interesting part takes.
  const whole = start(fixture, { root, id, what });
  let began = 0;
  whole.stdout?.once('data', () => (began = performance.now()));
  const { output, errors } = await finished(whole);
  const spanMs = performance.now() - began;
  expect({ output, errors }).toMatchObject({ errors: '' });
  const after = snapshot(root, notGit);
  expect(after).not.toEqual(before);

  const outcomes = { before: 0, after: 0 };
  const runs = Number(process.env['LITTERBOX_KILL_RUNS'] ?? 24);
  for (let run = 0; run < runs; run++) {
    // The same inode: the work tree goes, the directory stays.
    for (const name of readdirSync(root)) if (name !== '.git') rmSync(join(root, name), { recursive: true });
    for (const name of readdirSync(join(root, '.git'))) rmSync(join(root, '.git', name), { recursive: true });
    cpSync(pristine, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    fixture.git(root, 'update-index', '-q', '--refresh', '--really-refresh');
    const child = start(fixture, { root, id, what });
    const ended = finished(child);
    await Promise.race([new Promise((resolve) => child.stdout?.once('data', resolve)), ended]);
    const until = performance.now() + (spanMs * run) / runs;
    while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
    killAll(child);
    await ended;
    const fresh = await fixture.open(root);
    const said = await reconciled(fresh);
    const now = snapshot(root, notGit);
    const isAfter = Object.keys(now).includes('added/x');
    expect({ run, said, now }).toEqual({ run, said, now: isAfter ? after : before });
    outcomes[isAfter ? 'after' : 'before']++;
    expect(existsSync(join(root, '.git/index.lock'))).toBe(false);
    expect(readdirSync(join(root, '.git')).filter((name) => name.startsWith('index.litterbox'))).toEqual([]);
    const status = fixture.git(root, 'status', '--porcelain');
    expect(status.split('\n').filter((line) => !/^[ADM] {2}/.test(line))).toEqual([' M mine', '?? untracked', '']);
    if (!isAfter) expect(status).toBe(' M mine\n?? untracked\n');
    else if (what === 'merge') expect(status).toBe(' M mine\n?? untracked\n');
    expect(await fresh.reconcile()).toEqual([]);
    await fresh[Symbol.asyncDispose]();
  }
  fixture.git(root, 'fsck', '--strict', '--full');
  expect(outcomes.before).toBeGreaterThan(0);
});

test('autostashed work is back after a kill anywhere', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1\n2\n3\n', b: 'b\n' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { a: 'one\n2\n3\n', b: 'b\n' });
  const pristine = join(fixture.directory, 'pristine');
  put(root, 'a', '1\n2\n3\nmine\n');
  cpSync(root, pristine, { recursive: true, preserveTimestamps: true });
  for (let run = 0; run < 16; run++) {
    for (const name of readdirSync(root)) if (name !== '.git') rmSync(join(root, name), { recursive: true });
    for (const name of readdirSync(join(root, '.git'))) rmSync(join(root, '.git', name), { recursive: true });
    cpSync(pristine, root, { recursive: true, preserveTimestamps: true });
    const child = start(fixture, { root, id, what: 'merge', autostash: true });
    const ended = finished(child);
    await Promise.race([new Promise((resolve) => child.stdout?.once('data', resolve)), ended]);
    const until = performance.now() + run * 12;
    while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
    killAll(child);
    await ended;
    const fresh = await fixture.open(root);
    const said = await reconciled(fresh);
    expect({ run, said, a: readFileSync(join(root, 'a'), 'utf8') }).toEqual({
      run,
      said,
      a: expect.stringMatching(/^(?:1|one)\n2\n3\nmine\n$/),
    });
    await fresh[Symbol.asyncDispose]();
  }
});

test('processes that record at once lose nothing, also when one is killed', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': '1' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const children = ['one', 'two', 'three'].map((content) =>
    start(fixture, { root, id, what: 'record', content, times: 15 }),
  );
  const results = children.map(finished);
  const [victim] = children;
  let lines = 0;
  victim?.stdout?.on('data', () => {
    if (++lines === 4 && victim) killAll(victim);
  });
  const acknowledged = (await Promise.all(results)).flatMap(({ output, errors }) => {
    expect(errors).toBe('');
    return output.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line));
  });
  const log = await all(repository.log(id));
  const recorded = new Set<string>(log.map(({ commit }) => commit));
  expect(acknowledged.filter((commit) => !recorded.has(commit))).toEqual([]);
  expect(log.map(({ number }) => number)).toEqual(log.map((_, index) => log.length - index));
  // At most the one that was killed before it could say so.
  expect(log.length - acknowledged.length).toBeLessThanOrEqual(1);
  await repository.reconcile();
  fixture.git(fixture.storeOf(repository), '-c', 'safe.bareRepository=all', 'fsck', '--strict', '--full');
});
