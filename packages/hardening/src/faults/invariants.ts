import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FaultFixture } from './fault-fixture.ts';
import { digestDifference, userDigest } from './user-digest.ts';

const PROCESSES_END_MS = 30_000;
const STABLE = ['ready', 'paused', 'stopped', 'setup-failed'];

/**
 * Looks at everything that must hold when no program runs and `reconcile` has run once (security.md 1.5), and fails with all that
 * does not. The caller has closed its own programs.
 */
export async function expectInvariants(fixture: FaultFixture, stage: string): Promise<void> {
  const problems = await violations(fixture);
  assert.deepEqual(problems, [], stage);
}

export async function violations(fixture: FaultFixture): Promise<readonly string[]> {
  const { repository, stateDirectory, directory, acknowledged } = fixture;
  const problems: string[] = [];
  const found = await fixture.once(async (litterbox) => {
    const sandboxes = await litterbox.list('all');
    const entries = await litterbox.audit({ limit: 1_000_000 });
    for (const { operation, outcome } of entries)
      if (outcome === 'running') problems.push(`audit: ${operation} has no end`);
    await litterbox.verifyAudit().catch((error: Error) => problems.push(`audit: ${error.message}`));
    for (const { name } of sandboxes) {
      const numbers: number[] = [];
      try {
        for await (const { number } of litterbox.log(name)) numbers.push(number);
      } catch (error) {
        problems.push(`log of ${name}: ${String(error)}`);
      }
      const expected = numbers.map((_, index) => numbers.length - index);
      if (numbers.join() !== expected.join()) problems.push(`the history of ${name} is not linear: ${numbers.join()}`);
    }
    return { sandboxes, ids: new Set(entries.flatMap(({ sandbox }) => (sandbox === undefined ? [] : [sandbox]))) };
  });
  const ids = found.sandboxes.map(({ id }) => id).sort();

  // Records and runtimes.
  for (const { name, state } of found.sandboxes)
    if (!STABLE.includes(state)) problems.push(`the sandbox ${name} is ${state}`);
  const provider = join(stateDirectory, fixture.provider);
  same(problems, 'runtimes', names(join(provider, 'sandboxes')), ids);
  same(problems, 'playgrounds', names(join(provider, 'playgrounds')), ids);
  for (const name of names(join(provider, 'disks')))
    if (!ids.includes(name)) problems.push(`a disk is left of ${name}`);
  for (const name of names(join(provider, 'bases')))
    if (name.startsWith('.')) problems.push(`half a base tree is left: ${name}`);
  if (existsSync(join(stateDirectory, 'state.db'))) {
    using database = new DatabaseSync(join(stateDirectory, 'state.db'), { readOnly: true });
    const { open } = database.prepare('SELECT count(*) AS open FROM journal').get() ?? {};
    if (open !== 0) problems.push(`the journal has ${String(open)} entries`);
  }

  // Histories.
  for (const store of names(join(stateDirectory, 'repos')).map((name) => join(stateDirectory, 'repos', name))) {
    const git = join(store, 'store.git');
    if (!existsSync(join(store, 'repository.json'))) {
      if (!/\.lock$|^home$/.test(basename(store))) problems.push(`a store that is nobody's is left: ${store}`);
      continue;
    }
    problems.push(...fsck('store', ['--git-dir', git]));
    const reachable = new Set(run('git', ['--git-dir', git, 'rev-list', '--all']).split('\n'));
    for (const commit of acknowledged) if (!reachable.has(commit)) problems.push(`lost: ${commit}`);
    const histories = names(join(git, 'refs/litterbox')).filter((name) => name !== 'tombstones');
    same(problems, 'histories', histories, ids);
    problems.push(...leftovers(store, store));
    for (const name of names(join(store, 'work'))) problems.push(`left in work: ${name}`);
  }
  problems.push(...fsck('user repository', ['-C', repository]));
  const refs = (prefix: string) =>
    run('git', ['-C', repository, 'for-each-ref', '--format=%(refname)', prefix])
      .split('\n')
      .filter(Boolean)
      .map((name) => basename(name));
  same(problems, 'pins', refs('refs/litterbox/base'), ids);
  const slugs = found.sandboxes.map(({ name }) => name);
  for (const branch of refs('refs/heads/litterbox'))
    if (!slugs.includes(branch)) problems.push(`a review branch is left: ${branch}`);
  problems.push(...leftovers(join(repository, '.git'), repository));
  for (const path of digestDifference(fixture.digest, userDigest(repository)))
    problems.push(`the user's repository changed: ${path}`);

  // What the engine has.
  if (fixture.provider !== 'overlayfs')
    for (const found of inEngine(fixture.provider, stateDirectory))
      if (!ids.some((id) => found.includes(id))) problems.push(`left in the engine: ${found}`);

  // What runs.
  const deadline = Date.now() + PROCESSES_END_MS;
  const look = () => [...processes(directory, found.ids), ...controlGroups(found.ids)];
  let left = look();
  while (left.length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = look();
  }
  problems.push(...left);
  // A container goes on when nobody uses it, and so do its mounts.
  const isOfContainer = (mount: string) => fixture.provider !== 'overlayfs' && ids.some((id) => mount.includes(id));
  for (const mount of readFileSync('/proc/self/mountinfo', 'latin1').split('\n'))
    if (mount.includes(`${stateDirectory}/`) && !isOfContainer(mount)) problems.push(`a mount is left: ${mount}`);
  return problems;
}

const names = (path: string) => (existsSync(path) ? readdirSync(path).sort() : []);
const run = (program: string, args: readonly string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 26 });

function same(problems: string[], what: string, found: readonly string[], wanted: readonly string[]): void {
  for (const one of found) if (!wanted.includes(one)) problems.push(`${what}: ${one} has no record`);
  for (const one of wanted) if (!found.includes(one)) problems.push(`${what}: ${one} is missing`);
}

function fsck(what: string, where: readonly string[]): readonly string[] {
  const args = [...where, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress'];
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  const said = `${stdout}${stderr}`.split('\n').filter((line) => /error|missing|broken|corrupt|fatal/.test(line));
  return status === 0 && said.length === 0 ? [] : [`fsck of the ${what}: ${status} ${said.join('; ')}`];
}

/** Locks and half-written files. */
function leftovers(directory: string, root: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(({ name, parentPath }) => isLeftover(name) && !(parentPath === root && /^(store|user)\.lock$/.test(name)))
    .map(({ name, parentPath }) => `left: ${join(parentPath, name)}`);
}

function isLeftover(name: string): boolean {
  return /\.(lock|tmp)$|^tmp_|^index\.litterbox|^incoming-|^integration\.json$/.test(name);
}

/** Processes that have to do with the directory or with one of the sandboxes. */
function processes(directory: string, ids: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      const group = readFileSync(`/proc/${pid}/cgroup`, 'latin1');
      const isOurs =
        command.includes(directory) ||
        readlinkSync(`/proc/${pid}/cwd`).startsWith(directory) ||
        [...ids].some((id) => group.includes(id));
      if (isOurs) found.push(`process ${pid} runs: ${command.slice(0, 200)}`);
    } catch {
      // it ended while we looked
    }
  }
  return found;
}

/** Containers and volumes that a provider of this state directory made, each with where it leads. */
function inEngine(engine: 'docker' | 'podman', stateDirectory: string): readonly string[] {
  const url = process.env[engine === 'docker' ? 'DOCKER_HOST' : 'CONTAINER_HOST'] ?? '';
  const [program, ...remote] = engine === 'docker' ? ['docker', '-H', url] : ['podman', '--url', url];
  const list = (...args: readonly string[]) =>
    run(program ?? '', [...remote, ...args])
      .split('\n')
      .filter(Boolean);
  const found = [
    ...list('ps', '-aq', '--no-trunc', '--filter', 'label=dev.litterbox.id').map((id) => ['container', id] as const),
    ...list('volume', 'ls', '-q', '--filter', 'label=dev.litterbox.id').map((name) => ['volume', name] as const),
  ];
  return found.flatMap(([kind, name]) => {
    const { status, stdout } = spawnSync(program ?? '', [...remote, kind, 'inspect', name], { encoding: 'utf8' });
    return status === 0 && stdout.includes(`${stateDirectory}/`) ? [`${kind} ${stdout.slice(0, 20_000)}`] : []; // else it is gone meanwhile
  });
}

function controlGroups(ids: ReadonlySet<string>): readonly string[] {
  const top = '/sys/fs/cgroup';
  const parents = [join(top, 'litterbox'), ...names(top).map((name) => join(top, name, 'litterbox'))];
  return parents.flatMap((parent) =>
    [...ids].filter((id) => existsSync(join(parent, id))).map((id) => `control group left: ${join(parent, id)}`),
  );
}
