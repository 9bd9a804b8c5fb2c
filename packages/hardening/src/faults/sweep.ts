import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLitterboxError } from '@litterbox/core';
import type { Litterbox } from 'litterbox';
import { yesTo } from '../yes-to.ts';
import { expectInvariants } from './invariants.ts';
import type { Job } from './job.ts';
import { type Death, type FaultFixture, faultFixture } from './fault-fixture.ts';

/** What changes something on disk or starts something: the calls of the kernel between which a kill makes a difference. */
const CALLS =
  'write,pwrite64,writev,ftruncate,fsync,fdatasync,mkdir,rmdir,link,rename,renameat2,unlink,unlinkat,symlink,fchmod,chmod,chown,mount,execve';

export interface SweptOperation {
  readonly name: string;
  readonly job: Job;
  prepare(litterbox: Litterbox): Promise<void>;
  /** Does it again after whatever happened. Fails when it does not work. */
  again(litterbox: Litterbox, one: FaultFixture): Promise<void>;
}

const withWork = async (litterbox: Litterbox) => {
  await (await litterbox.create({ name: 'a' })).run('echo changed >src/a.txt; rm gone; echo new >new');
};
const isThere = async (litterbox: Litterbox) => (await litterbox.list()).some(({ name }) => name === 'a');

export const OPERATIONS: readonly SweptOperation[] = [
  {
    name: 'create',
    job: { do: 'create', name: 'a' },
    prepare: async () => {},
    async again(litterbox) {
      if (!(await isThere(litterbox))) await litterbox.create({ name: 'a' });
      const { stdout } = await (await litterbox.open('a')).run('cat src/a.txt');
      if (stdout !== 'a\n') throw new Error(`The sandbox holds ${stdout}`);
    },
  },
  {
    name: 'run',
    job: { do: 'run', name: 'a', command: 'echo ran >ran; mkdir d; echo x >d/x; rm gone' },
    prepare: async (litterbox) => void (await litterbox.create({ name: 'a' })),
    again: async (litterbox) => await ranOnce(litterbox, 'ran'),
  },
  {
    name: 'record',
    job: { do: 'write', name: 'a', path: 'ran', content: 'ran\n' },
    prepare: withWork,
    again: async (litterbox) => await ranOnce(litterbox, 'ran'),
  },
  {
    name: 'milestone',
    job: { do: 'milestone', name: 'a', message: 'swept' },
    prepare: withWork,
    async again(litterbox, one) {
      await litterbox.milestone('a', 'again');
      const count = one.git('rev-list', '--count', 'main..litterbox/a');
      if (count !== '1') throw new Error(`The review branch has ${count} commits.`);
    },
  },
  {
    name: 'apply',
    job: { do: 'apply', name: 'a' },
    prepare: withWork,
    async again(litterbox, one) {
      if (one.git('diff', '--cached', '--name-only') === '') await litterbox.apply('a', await yesTo(litterbox, 'a'));
      assertIntegrated(one);
      one.accept();
    },
  },
  {
    name: 'merge',
    job: { do: 'merge', name: 'a' },
    prepare: withWork,
    async again(litterbox, one) {
      if (await isThere(litterbox)) await litterbox.merge('a', await yesTo(litterbox, 'a'));
      assertIntegrated(one);
      if (one.git('--no-optional-locks', 'status', '--porcelain') !== '') throw new Error('The merge left changes.');
      one.accept();
    },
  },
  {
    name: 'delete',
    job: { do: 'delete', name: 'a' },
    async prepare(litterbox) {
      await withWork(litterbox);
      await litterbox.milestone('a', 'a branch');
    },
    async again(litterbox) {
      if (await isThere(litterbox)) await litterbox.delete('a', { force: true });
    },
  },
];

async function ranOnce(litterbox: Litterbox, path: string): Promise<void> {
  const sandbox = await litterbox.open('a');
  await sandbox.run(`[ -e ${path} ] || echo ran >${path}`);
  let times = 0;
  for await (const { commit } of litterbox.log('a'))
    if ((await litterbox.changes('a', { revision: commit })).some((file) => file.path === path)) times += 1;
  if (times !== 1) throw new Error(`${path} was recorded ${times} times.`);
}

function assertIntegrated(fixture: FaultFixture): void {
  const read = (path: string) => readFileSync(join(fixture.repository, path), 'utf8');
  if (read('src/a.txt') !== 'changed\n' || read('new') !== 'new\n') throw new Error('The work is not in.');
}

async function prepared(operation: SweptOperation): Promise<FaultFixture> {
  const fixture = faultFixture({ 'src/a.txt': 'a\n', gone: 'gone\n' });
  await fixture.once(async (litterbox) => {
    await operation.prepare(litterbox);
    for (const { name } of await litterbox.list())
      for await (const { commit } of litterbox.log(name)) fixture.acknowledged.add(commit);
  });
  return fixture;
}

/** strace counts calls by thread. */
const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' };

const strace = (output: string, inject: string) => ['strace', '-f', '-qq', '--seccomp-bpf', '-o', output, '-e', inject];

/** How many points a sweep of the operation has: the most calls that one thread of it makes. */
export async function countPoints(operation: SweptOperation): Promise<number> {
  await using fixture = await prepared(operation);
  const output = join(fixture.directory, 'trace');
  const { ok, errors, error } = await fixture.dying(operation.job, {
    wrapper: strace(output, `trace=${CALLS}`),
    environment: ONE_THREAD,
  });
  if (ok === undefined)
    throw new Error(`The operation ${operation.name} failed under strace: ${error?.message ?? errors}`);
  const counts = new Map<string, number>();
  for (const line of readFileSync(output, 'latin1').split('\n')) {
    const [thread = ''] = line.split(' ');
    if (!line.includes('resumed>')) counts.set(thread, (counts.get(thread) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

/**
 * Kills every thread of the operation, its helpers included, that comes to its nth call of the kernel; then reconciles once, looks at
 * the invariants, does the operation again and looks once more.
 */
export async function sweepPoint(operation: SweptOperation, point: number): Promise<Death> {
  await using fixture = await prepared(operation);
  const place = `${operation.name} killed at call ${point}`;
  const inject = `inject=${CALLS}:signal=KILL:when=${point}`;
  const death = await fixture.dying(operation.job, { wrapper: strace('/dev/null', inject), environment: ONE_THREAD });
  if (typeof death.ok === 'object' && death.ok !== null && 'commit' in death.ok)
    fixture.acknowledged.add(String(death.ok.commit));
  if (operation.name === 'milestone' && typeof death.ok === 'string') fixture.git('cat-file', '-e', death.ok);
  await fixture.once(async (litterbox) => await reconciled(fixture, litterbox));
  if (operation.name === 'apply' || operation.name === 'merge') fixture.accept();
  await expectInvariants(fixture, place);
  await fixture
    .once(async (litterbox) => await operation.again(litterbox, fixture))
    .catch((cause: unknown) => {
      throw new Error(`${place}, and again: ${String(cause)}`, { cause });
    });
  await expectInvariants(fixture, `${place}, and again`);
  return death;
}

/**
 * A git that was killed in the user's repository leaves its lock, which only the person may remove: it is named, and whoever removes
 * it need do nothing more. Locks of refs that are ours alone are ours to remove.
 */
async function reconciled(fixture: FaultFixture, litterbox: Litterbox): Promise<void> {
  for (let locks = 0; ; locks++) {
    try {
      for (const sentence of await litterbox.reconcile()) {
        const [, lock] = /locked by (\S+\.lock)/.exec(sentence) ?? [];
        if (lock !== undefined) throw Object.assign(new Error(sentence), { lock });
      }
      return;
    } catch (error) {
      const path = isLitterboxError(error, 'USER_REPO_LOCKED')
        ? String(error.details.facts?.['path'])
        : error instanceof Error && 'lock' in error
          ? String(error.lock)
          : undefined;
      if (path === undefined || locks === 3 || path.includes('/litterbox/')) throw error;
      rmSync(path);
    }
  }
}
