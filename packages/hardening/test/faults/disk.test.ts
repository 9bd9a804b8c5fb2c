import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { isLitterboxError } from '@litterbox/core';
import type { Litterbox } from 'litterbox';
import {
  expectInvariants,
  LoopImage,
  processState,
  type FaultFixture,
  faultFixture,
  userFile,
  violations,
  yesTo,
} from '../../src/index.ts';
import { seededRandom } from '../../src/model/seeded-random.ts';

/** The code that something was refused with, or what it gave. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    return isLitterboxError(error) ? error.code : String(error);
  }
}

async function work(litterbox: Litterbox, name: string, path: string, fixture: FaultFixture): Promise<string> {
  const ran = await (await litterbox.open(name)).run(`echo work >${path}`);
  if (ran.recorded.revision) fixture.acknowledged.add(ran.recorded.revision.commit);
  return ran.exitCode === 0 ? 'ok' : ran.stderr;
}

function storeOf({ stateDirectory }: FaultFixture): string {
  const repositories = join(stateDirectory, 'repos');
  const [id = ''] = readdirSync(repositories).filter((name) => existsSync(join(repositories, name, 'store.git')));
  return join(repositories, id);
}

describe('a full disk below the state directory', () => {
  it('what needs room says DISK_FULL, looking and deleting work, and nothing is to be mended afterwards', async () => {
    using image = new LoopImage(96);
    await using fixture = faultFixture(undefined, image.mountPoint);
    await fixture.once(async (litterbox) => {
      for (const name of ['a', 'b', 'c']) {
        await litterbox.create({ name });
        await work(litterbox, name, 'before', fixture);
      }
    });
    image.fill();
    // A program that starts now, and one that had started before.
    await fixture.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      await litterbox.delete('c', { force: true });
    });
    await fixture.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a', 'b']);
      image.fill();
      for (const needsRoom of [
        async () => await litterbox.create({ name: 'd' }),
        async () => await litterbox.milestone('a', 'full'),
        async () => await litterbox.apply('a', await yesTo(litterbox, 'a')),
      ])
        expect(['DISK_FULL', 'AUDIT_UNAVAILABLE']).toContain(await outcomeOf(needsRoom));
      const log: string[] = [];
      for await (const { subject } of litterbox.log('a')) log.push(subject);
      expect(log).toEqual(['run: echo work >before']);
      await litterbox.delete('b', { force: true });
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a']);
    });
    image.free();
    await fixture.once(async (litterbox) => {
      await litterbox.reconcile();
      expect(await work(litterbox, 'a', 'after', fixture)).toBe('ok');
      await litterbox.create({ name: 'd' });
    });
    await expectInvariants(fixture, 'after the disk was full');
  });

  it('without inodes every call works or is refused by code, and nothing is to be mended afterwards', async () => {
    using image = new LoopImage(96, 4000);
    await using fixture = faultFixture(undefined, image.mountPoint);
    await fixture.once(async (litterbox) => {
      await litterbox.create({ name: 'a' });
      await work(litterbox, 'a', 'before', fixture);
      image.fillInodes();
      for (const call of [
        async () => await litterbox.create({ name: 'b' }),
        async () => await work(litterbox, 'a', 'more', fixture),
        async () => await litterbox.milestone('a', 'full'),
        async () => await litterbox.list(),
      ])
        expect(await outcomeOf(call)).toMatch(/^(ok|[A-Z_]+)$/);
    });
    await fixture.once(async (litterbox) => {
      expect(await outcomeOf(async () => await litterbox.list())).toMatch(/^(ok|DISK_FULL)$/);
    });
    image.free();
    await fixture.once(async (litterbox) => {
      await litterbox.reconcile();
      expect(await work(litterbox, 'a', 'after', fixture)).toBe('ok');
    });
    await expectInvariants(fixture, 'after the inodes were used up');
  });

  it('a command in a sandbox sees the full disk, and a write leaves the old file', async () => {
    using image = new LoopImage(96);
    await using fixture = faultFixture(undefined, image.mountPoint);
    await fixture.once(async (litterbox) => {
      const sandbox = await litterbox.create({ name: 'a' });
      await sandbox.files.write('big', 'old\n');
      image.fill();
      const ran = await outcomeOf(async () => {
        const { exitCode, stderr } = await sandbox.run('head -c 1000000 /dev/zero >more || exit 9');
        expect({ exitCode, stderr }).toEqual({
          exitCode: 9,
          stderr: expect.stringContaining('No space left on device'),
        });
      });
      expect(['ok', 'DISK_FULL', 'AUDIT_UNAVAILABLE']).toContain(ran);
      expect(await outcomeOf(async () => await sandbox.files.write('big', 'x'.repeat(2_000_000)))).not.toBe('ok');
      expect(Buffer.from(await sandbox.files.read('big')).toString()).toBe('old\n');
      image.free();
      await sandbox.run('rm -f more');
      await sandbox.files.write('big', 'new\n');
      expect(Buffer.from(await sandbox.files.read('big')).toString()).toBe('new\n');
    });
    await expectInvariants(fixture, 'after the sandbox filled the disk');
  });
});

describe('a full disk below the repository', () => {
  const git = (root: string, ...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  /** A repository that alone is on the image, and a sandbox with files that it has no room for. */
  async function started(image: LoopImage, fixture: FaultFixture, script: string) {
    const root = join(image.mountPoint, 'repository');
    git(image.mountPoint, 'clone', '-q', fixture.repository, root);
    git(root, 'config', 'user.name', 'Ada');
    git(root, 'config', 'user.email', 'ada@example.invalid');
    const litterbox = fixture.open({ repo: root });
    const sandbox = await litterbox.create({ name: 'a' });
    expect((await sandbox.run(script)).exitCode).toBe(0);
    return { root, litterbox };
  }
  const left = (root: string) => ({
    status: git(root, 'status', '--porcelain'),
    litter: readdirSync(join(root, '.git')).filter((name) => name.includes('lock') || name.includes('litterbox')),
  });

  it('an apply that needs more room than there is says so before it writes a file', async () => {
    using image = new LoopImage(32);
    await using fixture = faultFixture();
    const { root, litterbox } = await started(image, fixture, 'for i in 1 2 3; do head -c 3000000 /dev/zero >$i; done');
    image.leave(4 * 2 ** 20);
    const before = left(root);
    await expect(litterbox.apply('a', await yesTo(litterbox, 'a'))).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringMatching(/^The changes need \d+ MiB below .*, and \d+ MiB are free\.$/),
    });
    expect(left(root)).toEqual(before);
    image.free();
    expect((await litterbox.apply('a', await yesTo(litterbox, 'a'))).outcome).toBe('staged');
  });

  it('an apply that finds no inode half-way is undone, and git is not locked', async () => {
    using image = new LoopImage(32, 400);
    await using fixture = faultFixture();
    const { root, litterbox } = await started(
      image,
      fixture,
      'i=0; while [ $i -lt 100 ]; do echo $i >new$i; i=$((i+1)); done',
    );
    image.leaveInodes(50);
    const before = left(root);
    await expect(litterbox.apply('a', await yesTo(litterbox, 'a'))).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(left(root)).toEqual(before);
    image.free();
    expect((await litterbox.apply('a', await yesTo(litterbox, 'a'))).outcome).toBe('staged');
    expect(left(root).status.split('\n')).toHaveLength(101);
  });
});

describe('a full disk of a sandbox whose disk is bounded', () => {
  const MIB = 2 ** 20;
  const freeBytes = ({ directory }: FaultFixture) => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };

  it("is the sandbox's own: neighbour and machine go on, nothing is lost, and it is recorded, emptied and deleted", async () => {
    using image = new LoopImage(192);
    await using fixture = faultFixture(undefined, image.mountPoint);
    await fixture.once(async (litterbox) => {
      const neighbour = await litterbox.create({ name: 'neighbour' });
      const sandbox = await litterbox.create({ name: 'full', diskBytes: 32 * MIB });
      await sandbox.files.write('old', 'old\n');
      await sandbox.run('echo kept >"$LITTERBOX_PLAYGROUND/kept"; echo kept >"$HOME/kept"');
      const before = freeBytes(fixture);
      const filler =
        'head -c 200000000 /dev/zero >"$HOME/fill"; head -c 200000000 /dev/zero >"$LITTERBOX_PLAYGROUND/fill"';
      // Ignored by git: what fills the disk is not to be recorded too.
      const ran = await sandbox.run(
        `echo new >new; ${filler}; mkdir -p ignored; head -c 200000000 /dev/zero >ignored/fill || exit 9`,
      );
      expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({
        exitCode: 9,
        stderr: expect.stringContaining('No space left on device'),
      });
      expect(ran.recorded.changedFiles).toBe(1);
      fixture.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
      expect(before - freeBytes(fixture)).toBeLessThan(40 * MIB);
      const refusal = await sandbox.files.write('old', 'x'.repeat(500_000)).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: 'DISK_FULL', details: { hint: expect.stringContaining('limits.disk') } });
      expect(Buffer.from(await sandbox.files.read('old')).toString()).toBe('old\n');
      expect(await work(litterbox, 'neighbour', 'beside', fixture)).toBe('ok');
      expect(
        (await neighbour.run('head -c 50000000 /dev/zero >ignored-not; wc -c <ignored-not; rm ignored-not')).stdout,
      ).toBe('50000000\n');
      await litterbox.milestone('full', 'what a full sandbox holds');
      expect(await sandbox.diff()).toContain('+new');
    });
    // Another program, another session: it starts on the full disk and can be emptied.
    await fixture.once(async (litterbox) => {
      const sandbox = await litterbox.open('full');
      expect((await sandbox.run('cat old new "$HOME/kept" "$LITTERBOX_PLAYGROUND/kept"')).stdout).toBe(
        'old\nnew\nkept\nkept\n',
      );
      expect((await sandbox.run('rm -r ignored "$HOME/fill" "$LITTERBOX_PLAYGROUND/fill"')).exitCode).toBe(0);
      expect(await work(litterbox, 'full', 'after', fixture)).toBe('ok');
      await litterbox.restore('full', '1');
      expect((await (await litterbox.open('full')).run('cat "$LITTERBOX_PLAYGROUND/kept"; ls')).stdout).toBe(
        'kept\nold\nsrc\n',
      );
      await litterbox.delete('full', { force: true });
    });
    expect(readdirSync(join(fixture.stateDirectory, 'overlayfs/disks'))).toEqual([]);
    await expectInvariants(fixture, 'after a sandbox filled a disk of its own');
  });

  it('by a service: it is contained and reported, and what was there is recorded', async () => {
    using image = new LoopImage(96);
    await using fixture = faultFixture(
      {
        '.gitignore': 'filler\n',
        '.litterbox.toml': `limits.disk = "24MiB"
[container.services]
greedy = { command = ["sh", "-c", "echo work >work; cat /dev/zero >filler || exit 7"], restart = "never" }
calm = { command = ["sh", "-c", "echo calm; while :; do sleep 1000; done"] }
`,
      },
      image.mountPoint,
    );
    await fixture.once(async (litterbox) => {
      await litterbox.trust((await litterbox.trustStatus()).contentHash);
      const before = freeBytes(fixture);
      const sandbox = await litterbox.create({ name: 'a' });
      const greedy = async () => (await sandbox.services()).find(({ name }) => name === 'greedy');
      expect(await eventually(greedy, (service) => service?.state === 'failed')).toMatchObject({ exit: { code: 7 } });
      let log = '';
      for await (const { text } of sandbox.logs({ service: 'greedy' })) log += text;
      expect(log).toContain('No space left on device');
      expect((await sandbox.services()).find(({ name }) => name === 'calm')).toMatchObject({ state: 'running' });
      expect(before - freeBytes(fixture)).toBeLessThan(32 * MIB);
      const ran = await sandbox.run('echo hi');
      expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 0, stdout: 'hi\n' });
      expect(await sandbox.diff()).toContain('+work');
      await litterbox.milestone('a', 'what the service left');
    });
    await expectInvariants(fixture, 'after a service filled the disk');
  });
});

describe('a call of the kernel that fails', () => {
  it.each([
    ['fsync', 'EIO'],
    ['fdatasync', 'EIO'],
    ['rename', 'EIO'],
    ['rename', 'ENOSPC'],
    ['pwrite64', 'EIO'],
    ['mkdir', 'EDQUOT'],
  ])('%s with %s at any time: an error and no acknowledgement, or no harm', async (call, errno) => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => await litterbox.create({ name: 'a' }));
    const random = seededRandom(7);
    for (let sample = 0; sample < 3; sample++) {
      const point = 1 + random.below(6);
      const inject = `inject=${call}:error=${errno}:when=${point}+`;
      const wrapper = ['strace', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-e', inject];
      const death = await fixture.dying(
        { do: 'write', name: 'a', path: `f${sample}`, content: `${sample}\n` },
        { wrapper },
      );
      expect(death.error?.code).not.toBe('OTHER');
      const commit = (death.ok as { commit?: string } | undefined)?.commit;
      if (commit !== undefined) fixture.acknowledged.add(commit);
      await fixture.once(async (litterbox) => await litterbox.reconcile());
      await expectInvariants(fixture, `${call} failed with ${errno} from call ${point}`);
      await fixture.once(async (litterbox) => {
        await (await litterbox.open('a')).files.write(`f${sample}`, `again ${sample}\n`);
      });
    }
  });
});

describe('the journal of revisions', () => {
  it.each([
    ['cannot be written, for want of room', 'pwrite64', 'ENOSPC', 'DISK_FULL'],
    ['cannot be synced', 'fdatasync', 'EIO', 'STORE_CORRUPT'],
  ])(
    'that %s: the call is refused by code, nothing of it is recorded, and the next one is',
    async (_what, call, errno, code) => {
      await using fixture = faultFixture();
      await fixture.once(async (litterbox) => {
        fixture.acknowledged.add(
          (await (await litterbox.create({ name: 'a' })).files.write('f', 'old\n')).revision?.commit ?? '',
        );
      });
      const inject = ['-P', join(storeOf(fixture), 'revisions.journal'), '-e', `inject=${call}:error=${errno}`];
      const wrapper = ['strace', '-f', '-qq', '-o', '/dev/null', ...inject];
      const death = await fixture.dying({ do: 'write', name: 'a', path: 'f', content: 'new\n' }, { wrapper });
      expect(death.error?.code).toBe(code);
      await fixture.once(async (litterbox) => {
        const numbers = async () => {
          const found: number[] = [];
          for await (const { number } of litterbox.log('a')) found.push(number);
          return found;
        };
        expect(await numbers()).toEqual([1]);
        fixture.acknowledged.add((await (await litterbox.open('a')).files.write('g', 'g\n')).revision?.commit ?? '');
        expect(await numbers()).toEqual([3, 2, 1]); // what was left unrecorded, and this
        expect(Buffer.from(await (await litterbox.open('a')).files.read('f')).toString()).toBe('new\n');
      });
      await expectInvariants(fixture, `${call} failed with ${errno}`);
    },
  );
});

describe('small limits of the program itself', () => {
  it.each([
    ['64 open files', ['prlimit', '--nofile=64']],
    ['36 open files', ['prlimit', '--nofile=36']],
    ['28 open files', ['prlimit', '--nofile=28']],
    ['50 MB files', ['prlimit', `--fsize=${50 * 2 ** 20}`]],
    ['a small stack', ['prlimit', '--stack=1048576']],
    ['the lowest priority', ['nice', '-n', '19']],
  ])('%s: it works or is refused by code', async (_what, wrapper) => {
    await using fixture = faultFixture();
    await using client = fixture.client({ wrapper });
    client.send({ do: 'create', name: 'a' });
    const created = await client.reply();
    if (created?.error) expect(created.error.code).not.toBe('OTHER');
    else {
      const { commit } = await client.do<{ commit: string }>({ do: 'write', name: 'a', path: 'f', content: 'x' });
      fixture.acknowledged.add(commit);
    }
    await client.ended();
    await fixture.once(async (litterbox) => await litterbox.reconcile());
    await expectInvariants(fixture, 'after small limits');
  });
});

/** Revisions that were answered and of which the audit log knows no end. Those of the last two may still be on their way to the disk. */
async function unaudited(fixture: FaultFixture, newest: readonly string[]): Promise<readonly string[]> {
  const entries = await fixture.once(async (litterbox) => await litterbox.audit({ limit: 1000 }));
  const known = new Set(entries.filter(({ outcome }) => outcome === 'ok').map(({ result }) => result['revision']));
  return [...fixture.acknowledged]
    .filter((commit) => !newest.includes(commit) && !known.has(commit))
    .map((commit) => `not in the audit log: ${commit}`);
}

interface Cut {
  readonly wrapper?: (one: FaultFixture) => readonly string[];
  /** Written without waiting for an answer. */
  readonly ahead?: readonly string[];
  /** Where the client freezes. */
  readonly failpoints?: string;
}

/** What a client did, the power cut right behind its last answer; gives the revisions that are gone. */
async function cutAfterWrites(
  last: number,
  { wrapper = () => [], ahead = ['late'], failpoints }: Cut = {},
): Promise<readonly string[]> {
  using image = new LoopImage(96);
  await using fixture = faultFixture(undefined, image.mountPoint);
  await fixture.once(async (litterbox) => await litterbox.create({ name: 'a' }));
  image.sync();
  await using client = fixture.client({ wrapper: wrapper(fixture), failpoints });
  const answered: string[] = [];
  for (let count = 0; count < last; count++) {
    const job = { do: 'write', name: 'a', path: `f${count % 3}`, content: `${count}\n` } as const;
    client.send(job);
    const answer = await Promise.race([client.reply(), client.stopped()]);
    if (!answer) break; // it is frozen where it was to be
    if (answer.error) throw new Error(answer.error.message);
    const { commit } = answer.ok as { commit: string };
    answered.push(commit);
    fixture.acknowledged.add(commit);
  }
  if (failpoints !== undefined) {
    await client.stopped();
    expect(processState(client.pid)).toBe('T');
  }
  for (const path of ahead) client.send({ do: 'write', name: 'a', path, content: 'late\n' });
  image.photograph();
  await client[Symbol.asyncDispose]();
  await quiet(fixture);
  await image.restart();
  const problems = async () => {
    await fixture.once(async (litterbox) => {
      await litterbox.reconcile();
      const sandbox = await litterbox.open('a');
      const ran = await sandbox.run('echo after >after');
      fixture.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
    });
    return [...(await unaudited(fixture, answered.slice(-2))), ...(await violations(fixture))];
  };
  return await problems().catch((error: Error) => [error.message]);
}

/** How long power is cut again and again; four cuts come first, however long they take. */
const CUTS_SECONDS = Number(process.env['LITTERBOX_CUTS_SECONDS'] ?? 0);
const MOST_CUTS = 200;

describe('a power cut', () => {
  it('after acknowledged revisions: every one that was answered is there', async () => {
    const random = seededRandom(51);
    const endMs = performance.now() + CUTS_SECONDS * 1000;
    for (let cut = 0; cut < 4 || (cut < MOST_CUTS && performance.now() < endMs); cut++) {
      const last = 1 + random.below(8);
      const late = cut % 2 === 0 ? ['late'] : [];
      expect({ last, cutAfterWrites: await cutAfterWrites(last, { ahead: late }) }).toEqual({
        last,
        cutAfterWrites: [],
      });
    }
  });

  it.each(['journal.after-pack', 'journal.before-clear'])(
    'while the journal of revisions is emptied, at %s: every one that was answered is there',
    async (point) => {
      expect(await cutAfterWrites(80, { failpoints: `${point}=pause`, ahead: [] })).toEqual([]);
    },
  );

  it('behind an emptied journal of revisions: every one that was answered is there', async () => {
    expect(await cutAfterWrites(67)).toEqual([]);
  });

  // What shows that the others can fail: the kernel says that it synced, and did not.
  it.each([
    ['anything', () => []],
    ['the journal of revisions', (fixture: FaultFixture) => ['-P', join(storeOf(fixture), 'revisions.journal')]],
    ["the state file's log", (fixture: FaultFixture) => ['-P', join(fixture.stateDirectory, 'state.db-wal')]],
  ])('without the sync of %s: what was answered is lost, and the check sees it', async (_what, only) => {
    const lying = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=fdatasync,fsync:retval=0'];
    expect(await cutAfterWrites(6, { wrapper: (one) => [...lying, ...only(one)] })).toContainEqual(
      expect.stringMatching(/./),
    );
  });

  it.each(['create', 'apply', 'delete'] as const)('during %s: one reconcile reaches a legal state', async (what) => {
    const random = seededRandom(52);
    for (let cut = 0; cut < 2; cut++) {
      using image = new LoopImage(96);
      await using fixture = faultFixture({ 'src/a.txt': 'a\n', gone: 'gone\n' }, image.mountPoint);
      await fixture.once(async (litterbox) => {
        if (what !== 'create') await (await litterbox.create({ name: 'a' })).run('echo new >src/a.txt; rm gone');
      });
      image.sync();
      const point = { create: 'create.after-runtime', apply: 'integrate.after-files', delete: 'delete.after-runtime' }[
        what
      ];
      await using client = fixture.client({ failpoints: random.next() < 0.5 ? `${point}=pause` : '' });
      client.send({ do: what, name: 'a' });
      const answered = client.reply();
      await Promise.race([answered, client.stopped()]);
      image.photograph();
      await client[Symbol.asyncDispose]();
      await quiet(fixture);
      await image.restart();
      await fixture.once(async (litterbox) => await litterbox.reconcile());
      if (what === 'apply') {
        expect([
          ['a\n', 'gone\n'],
          ['new\n', undefined],
        ]).toContainEqual([userFile(fixture, 'src/a.txt'), userFile(fixture, 'gone')]);
        fixture.accept();
      }
      await expectInvariants(fixture, `power cut during ${what}`);
    }
  });
});

/** Waits until nothing of a killed program uses the file system any more, in a namespace of mounts of its own either. */
async function quiet(fixture: FaultFixture): Promise<void> {
  for (;;) {
    try {
      execFileSync('fuser', ['-sm', fixture.directory], { stdio: 'ignore' });
    } catch {
      return; // nobody
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
