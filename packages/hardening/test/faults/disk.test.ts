import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core';
import type { Litterbox } from 'litterbox';
import { expectInvariants, LoopImage, type Scene, scene, userFile } from '../../src/index.ts';
import { Random } from '../../src/model/random.ts';

/** The code that something was refused with, or what it gave. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    return isLitterboxError(error) ? error.code : String(error);
  }
}

async function work(litterbox: Litterbox, name: string, path: string, one: Scene): Promise<string> {
  const ran = await (await litterbox.open(name)).run(`echo work >${path}`);
  if (ran.recorded.revision) one.acknowledged.add(ran.recorded.revision.commit);
  return ran.exitCode === 0 ? 'ok' : ran.stderr;
}

describe('a full disk below the state directory', () => {
  it('what needs room says DISK_FULL, looking and deleting work, and nothing is to be mended afterwards', async () => {
    using image = new LoopImage(96);
    await using one = scene(undefined, image.mountPoint);
    await one.once(async (litterbox) => {
      for (const name of ['a', 'b', 'c']) {
        await litterbox.create({ name });
        await work(litterbox, name, 'before', one);
      }
    });
    image.fill();
    // A program that starts now, and one that had started before.
    await one.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      await litterbox.delete('c', { force: true });
    });
    await one.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a', 'b']);
      image.fill();
      for (const needsRoom of [
        async () => await litterbox.create({ name: 'd' }),
        async () => await litterbox.milestone('a', 'full'),
        async () => await litterbox.apply('a', { acceptRisky: true }),
      ])
        expect(['DISK_FULL', 'AUDIT_UNAVAILABLE']).toContain(await outcomeOf(needsRoom));
      const log: string[] = [];
      for await (const { subject } of litterbox.log('a')) log.push(subject);
      expect(log).toEqual(['run: echo work >before']);
      await litterbox.delete('b', { force: true });
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a']);
    });
    image.free();
    await one.once(async (litterbox) => {
      await litterbox.reconcile();
      expect(await work(litterbox, 'a', 'after', one)).toBe('ok');
      await litterbox.create({ name: 'd' });
    });
    await expectInvariants(one, 'after the disk was full');
  });

  it('without inodes every call works or is refused by code, and nothing is to be mended afterwards', async () => {
    using image = new LoopImage(96, 4000);
    await using one = scene(undefined, image.mountPoint);
    await one.once(async (litterbox) => {
      await litterbox.create({ name: 'a' });
      await work(litterbox, 'a', 'before', one);
      image.fillInodes();
      for (const call of [
        async () => await litterbox.create({ name: 'b' }),
        async () => await work(litterbox, 'a', 'more', one),
        async () => await litterbox.milestone('a', 'full'),
        async () => await litterbox.list(),
      ])
        expect(await outcomeOf(call)).toMatch(/^(ok|[A-Z_]+)$/);
    });
    await one.once(async (litterbox) => {
      expect(await outcomeOf(async () => await litterbox.list())).toMatch(/^(ok|DISK_FULL)$/);
    });
    image.free();
    await one.once(async (litterbox) => {
      await litterbox.reconcile();
      expect(await work(litterbox, 'a', 'after', one)).toBe('ok');
    });
    await expectInvariants(one, 'after the inodes were used up');
  });

  it('a command in a sandbox sees the full disk, and a write leaves the old file', async () => {
    using image = new LoopImage(96);
    await using one = scene(undefined, image.mountPoint);
    await one.once(async (litterbox) => {
      const sandbox = await litterbox.create({ name: 'a' });
      await sandbox.write('big', 'old\n');
      image.fill();
      const ran = await outcomeOf(async () => {
        const { exitCode, stderr } = await sandbox.run('head -c 1000000 /dev/zero >more || exit 9');
        expect([exitCode, stderr]).toEqual([9, expect.stringContaining('No space left on device')]);
      });
      expect(['ok', 'DISK_FULL', 'AUDIT_UNAVAILABLE']).toContain(ran);
      expect(await outcomeOf(async () => await sandbox.write('big', 'x'.repeat(2_000_000)))).not.toBe('ok');
      expect(Buffer.from(await sandbox.read('big')).toString()).toBe('old\n');
      image.free();
      await sandbox.run('rm -f more');
      await sandbox.write('big', 'new\n');
      expect(Buffer.from(await sandbox.read('big')).toString()).toBe('new\n');
    });
    await expectInvariants(one, 'after the sandbox filled the disk');
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
    await using one = scene();
    await one.once(async (litterbox) => await litterbox.create({ name: 'a' }));
    const random = new Random(7);
    for (let sample = 0; sample < 3; sample++) {
      const point = 1 + random.below(6);
      const inject = `inject=${call}:error=${errno}:when=${point}+`;
      const wrapper = ['strace', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-e', inject];
      const death = await one.dying(
        { do: 'write', name: 'a', path: `f${sample}`, content: `${sample}\n` },
        { wrapper },
      );
      expect(death.error?.code).not.toBe('OTHER');
      const commit = (death.ok as { commit?: string } | undefined)?.commit;
      if (commit !== undefined) one.acknowledged.add(commit);
      await one.once(async (litterbox) => await litterbox.reconcile());
      await expectInvariants(one, `${call} failed with ${errno} from call ${point}`);
      await one.once(async (litterbox) => {
        await (await litterbox.open('a')).write(`f${sample}`, `again ${sample}\n`);
      });
    }
  });
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
    await using one = scene();
    await using client = one.client({ wrapper });
    client.send({ do: 'create', name: 'a' });
    const created = await client.reply();
    if (created?.error) expect(created.error.code).not.toBe('OTHER');
    else {
      const { commit } = await client.do<{ commit: string }>({ do: 'write', name: 'a', path: 'f', content: 'x' });
      one.acknowledged.add(commit);
    }
    await client.ended();
    await one.once(async (litterbox) => await litterbox.reconcile());
    await expectInvariants(one, 'after small limits');
  });
});

describe('a power cut', () => {
  it('after acknowledged revisions: every one that was answered is there', async () => {
    const random = new Random(51);
    for (let cut = 0; cut < 3; cut++) {
      using image = new LoopImage(96);
      await using one = scene(undefined, image.mountPoint);
      await one.once(async (litterbox) => await litterbox.create({ name: 'a' }));
      image.sync();
      await using client = one.client();
      const last = 2 + random.below(8);
      for (let count = 0; count < last; count++) {
        const job = { do: 'write', name: 'a', path: `f${count % 3}`, content: `${count}\n` } as const;
        one.acknowledged.add((await client.do<{ commit: string }>(job)).commit);
      }
      client.send({ do: 'write', name: 'a', path: 'late', content: 'late\n' });
      image.photograph();
      await client[Symbol.asyncDispose]();
      await quiet(one);
      image.restart();
      await one.once(async (litterbox) => {
        await litterbox.reconcile();
        const sandbox = await litterbox.open('a');
        const ran = await sandbox.run('echo after >after');
        one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
      });
      await expectInvariants(one, `power cut after ${last} writes`);
    }
  });

  it.each(['create', 'apply', 'delete'] as const)('during %s: one reconcile reaches a legal state', async (what) => {
    const random = new Random(52);
    for (let cut = 0; cut < 2; cut++) {
      using image = new LoopImage(96);
      await using one = scene({ 'src/a.txt': 'a\n', gone: 'gone\n' }, image.mountPoint);
      await one.once(async (litterbox) => {
        if (what !== 'create') await (await litterbox.create({ name: 'a' })).run('echo new >src/a.txt; rm gone');
      });
      image.sync();
      const point = { create: 'create.after-runtime', apply: 'integrate.after-files', delete: 'delete.after-runtime' }[
        what
      ];
      await using client = one.client({ failpoints: random.next() < 0.5 ? `${point}=pause` : '' });
      client.send({ do: what, name: 'a' });
      const answered = client.reply();
      await Promise.race([answered, client.stopped()]);
      image.photograph();
      await client[Symbol.asyncDispose]();
      await quiet(one);
      image.restart();
      await one.once(async (litterbox) => await litterbox.reconcile());
      if (what === 'apply') {
        expect([
          ['a\n', 'gone\n'],
          ['new\n', undefined],
        ]).toContainEqual([userFile(one, 'src/a.txt'), userFile(one, 'gone')]);
        one.accept();
      }
      await expectInvariants(one, `power cut during ${what}`);
    }
  });
});

/** Waits until nothing of a killed program uses the file system any more. */
async function quiet(one: Scene): Promise<void> {
  for (;;) {
    try {
      execFileSync('fuser', ['-sm', one.directory], { stdio: 'ignore' });
    } catch {
      return; // nobody
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
