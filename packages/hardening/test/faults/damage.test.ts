import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core';
import { expectInvariants, type Scene, scene } from '../../src/index.ts';

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    return isLitterboxError(error) ? error.code : String(error);
  }
}

/** A scene with a sandbox `a` of one revision. */
async function prepared(): Promise<Scene> {
  const one = scene();
  await one.once(async (litterbox) => {
    const ran = await (await litterbox.create({ name: 'a' })).run('echo work >work');
    one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
  });
  return one;
}

function storeOf(one: Scene): string {
  const repos = join(one.stateDirectory, 'repos');
  return join(repos, readdirSync(repos).find((name) => /^[0-9a-f-]{36}$/.test(name)) ?? '');
}

describe('stale locks', () => {
  it('of refs in the store are written over, and reconcile removes them', async () => {
    await using one = await prepared();
    const store = join(storeOf(one), 'store.git/refs/litterbox');
    const [id = ''] = readdirSync(store).filter((name) => name !== 'tombstones');
    writeFileSync(join(store, id, 'tip.lock'), 'dead');
    writeFileSync(join(store, id, 'other.lock'), 'dead');
    await one.once(async (litterbox) => {
      expect(await codeOf((await litterbox.open('a')).run('echo more >more'))).toBe('ok');
      await litterbox.reconcile();
    });
    await expectInvariants(one, 'after stale locks of the store');
  });

  it.each(['index.lock', 'HEAD.lock', 'refs/heads/main.lock'])(
    'of the person, %s: named with its age and left alone; gone, all works',
    async (name) => {
      await using one = await prepared();
      const lock = join(one.repository, '.git', name);
      writeFileSync(lock, '');
      utimesSync(lock, new Date(Date.now() - 90_000), new Date(Date.now() - 90_000));
      await one.once(async (litterbox) => {
        await expect(litterbox.merge('a')).rejects.toMatchObject({
          code: 'USER_REPO_LOCKED',
          details: { facts: { path: lock, ageSeconds: expect.any(Number) } },
        });
        await litterbox.reconcile();
        expect(readFileSync(lock, 'utf8')).toBe('');
        expect(await codeOf((await litterbox.open('a')).run('true'))).toBe('ok');
        rmSync(lock);
        expect(await litterbox.merge('a')).toMatchObject({ isDeleted: true });
      });
      one.accept();
      await expectInvariants(one, 'after the lock was removed');
    },
  );

  it.each(['config.lock', 'gc.pid', 'packed-refs.lock'])(
    'of the person, %s, keep nobody from recording',
    async (name) => {
      await using one = await prepared();
      const lock = join(one.repository, '.git', name);
      writeFileSync(lock, '1 elsewhere');
      await one.once(async (litterbox) => {
        expect(await codeOf((await litterbox.open('a')).run('echo more >more'))).toBe('ok');
        await litterbox.reconcile();
      });
      expect(readFileSync(lock, 'utf8')).toBe('1 elsewhere');
      rmSync(lock);
      await expectInvariants(one, 'after the lock was removed');
    },
  );
});

describe('the journal of an apply or merge', () => {
  it('torn: nothing is guessed, the file is named, and without it all works', async () => {
    await using one = await prepared();
    const journal = join(storeOf(one), 'integration.json');
    writeFileSync(journal, '{"version":1,"phase":"upda');
    await one.once(async (litterbox) => {
      await expect(litterbox.reconcile()).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        details: { hint: expect.stringContaining(journal) },
      });
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['ready']);
      rmSync(journal);
      await litterbox.reconcile();
    });
    await expectInvariants(one, 'after the journal was removed');
  });
});

describe('a damaged store', () => {
  it.each<readonly [string, (store: string, id: string) => void]>([
    ['an empty ref', (store, id) => truncateSync(join(store, 'refs/litterbox', id, 'tip'), 0)],
    [
      'a ref to a commit that is not there',
      (store, id) => writeFileSync(join(store, 'refs/litterbox', id, 'tip'), `${'1'.repeat(40)}\n`),
    ],
    ['objects that are gone', (store) => rmSync(join(store, 'objects'), { recursive: true })],
    [
      'loose objects cut in half',
      (store) => {
        for (const name of readdirSync(join(store, 'objects'), { recursive: true, encoding: 'utf8' }))
          if (/^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name)) {
            chmodSync(join(store, 'objects', name), 0o644);
            truncateSync(join(store, 'objects', name), 10);
          }
      },
    ],
    ['a HEAD of nonsense', (store) => writeFileSync(join(store, 'HEAD'), 'nonsense')],
    [
      'an alternate that leads nowhere',
      (store) => writeFileSync(join(store, 'objects/info/alternates'), '/nowhere/objects\n'),
    ],
  ])('%s: said by code or healed, the list still shows it, and the repository is as it was', async (_what, damage) => {
    await using one = await prepared();
    const store = join(storeOf(one), 'store.git');
    const [id = ''] = readdirSync(join(store, 'refs/litterbox')).filter((name) => name !== 'tombstones');
    backup(store);
    damage(store, id);
    const digest = one.digest;
    await one.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a']);
      const log = (async () => {
        for await (const _entry of litterbox.log('a'));
      })();
      for (const code of [
        await codeOf(log),
        await codeOf((await litterbox.open('a')).run('echo x >x')),
        await codeOf(litterbox.milestone('a', 'm')),
      ])
        expect(code).toMatch(/^(ok|STORE_CORRUPT|OBJECT_MISSING|NOT_FOUND)$/);
    });
    one.accept();
    expect([...one.digest]).toEqual([...digest]);
    // The person puts the backup back.
    rmSync(store, { recursive: true });
    renameSync(`${store}.backup`, store);
    await one.once(async (litterbox) => {
      await litterbox.reconcile();
      expect(await codeOf((await litterbox.open('a')).run('echo y >y'))).toBe('ok');
    });
    await expectInvariants(one, 'after the backup is back');
  });

  function backup(store: string): void {
    execFileSync('cp', ['-a', store, `${store}.backup`]);
  }
});

describe("the user's own git", () => {
  it('gc --prune=now, repack, rebase and a deleted base branch: every revision stays readable', async () => {
    await using one = scene();
    one.commit('base.txt', 'base\n');
    one.git('checkout', '-q', '-b', 'side');
    one.commit('side.txt', 'side\n');
    await one.once(async (litterbox) => {
      const ran = await (await litterbox.create({ name: 'a' })).run('echo work >work');
      one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
    });
    one.git('checkout', '-q', 'main');
    one.git('branch', '-q', '-D', 'side');
    one.git('commit', '-q', '--amend', '-m', 'rewritten');
    one.git('reflog', 'expire', '--expire=now', '--all');
    one.git('gc', '-q', '--prune=now');
    one.git('repack', '-q', '-a', '-d');
    one.accept();
    await one.once(async (litterbox) => {
      const sandbox = await litterbox.open('a');
      expect((await sandbox.run('cat side.txt; echo more >more')).stdout).toBe('side\n');
      expect((await litterbox.changes('a')).map(({ path }) => path)).toEqual(['more', 'work']);
      await litterbox.restore('a', '1');
      await litterbox.milestone('a', 'after gc');
    });
    await expectInvariants(one, 'after gc');
  });

  it('a repository that was moved is found by what it is', async () => {
    await using one = await prepared();
    const elsewhere = `${one.repository}-moved`;
    renameSync(one.repository, elsewhere);
    try {
      await using litterbox = one.open({ repo: elsewhere });
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a']);
      expect((await (await litterbox.open('a')).run('cat work')).stdout).toBe('work\n');
    } finally {
      renameSync(elsewhere, one.repository);
    }
    await expectInvariants(one, 'after it is back');
  });
});

describe('the overlay', () => {
  it("what the user does to the repository's files does not show in a sandbox", async () => {
    await using one = await prepared();
    one.file('src/a.txt', 'changed outside\n');
    one.accept();
    await one.once(async (litterbox) => {
      expect((await (await litterbox.open('a')).run('cat src/a.txt')).stdout).toBe('a\n');
    });
    await expectInvariants(one, 'after a change outside');
  });

  it('a work directory that is not empty, as after a crash, does not keep a session from starting', async () => {
    await using one = await prepared();
    const sandboxes = join(one.stateDirectory, 'overlayfs/sandboxes');
    const [id = ''] = readdirSync(sandboxes);
    mkdirSync(join(sandboxes, id, 'work/work/#left'), { recursive: true });
    writeFileSync(join(sandboxes, id, 'work/work/#left/file'), 'left');
    await one.once(async (litterbox) => {
      expect((await (await litterbox.open('a')).run('cat work')).stdout).toBe('work\n');
    });
    await expectInvariants(one, 'after a full work directory');
  });

  it('a sandbox whose directory is gone is missing; recover builds it anew from the last revision', async () => {
    await using one = await prepared();
    const sandboxes = join(one.stateDirectory, 'overlayfs/sandboxes');
    for (const name of readdirSync(sandboxes)) renameSync(join(sandboxes, name), join(one.directory, 'gone'));
    await one.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['missing']);
      expect(await codeOf((await litterbox.open('a')).run('true'))).toBe('SANDBOX_RUNTIME_MISSING');
      await litterbox.recover('a');
      expect((await (await litterbox.open('a')).run('cat work')).stdout).toBe('work\n');
    });
    await expectInvariants(one, 'after recover');
  });

  it('fifty sessions leave no mount, group or process', async () => {
    await using one = await prepared();
    for (let session = 0; session < 50; session++)
      await one.once(async (litterbox) => await (await litterbox.open('a')).run('true'));
    await expectInvariants(one, 'after fifty sessions');
  });
});

describe('tools, audit and state', () => {
  it('a tool that went away is named, and the state is as before when it is back', async () => {
    await using one = await prepared();
    const hidden = 'mount --bind /dev/null /usr/bin/bwrap && exec "$@"';
    await using client = one.client({ wrapper: ['unshare', '-m', 'sh', '-c', hidden, 'sh'] });
    client.send({ do: 'run', name: 'a', command: 'true' });
    const reply = await client.reply();
    expect(reply?.error?.code).toMatch(/^(TOOL_MISSING|UNAVAILABLE)$/);
    await client.ended();
    await expectInvariants(one, 'without tools');
  });

  it('an audit log that cannot be written: what changes something is refused, looking works', async () => {
    await using one = await prepared();
    const database = new DatabaseSync(join(one.stateDirectory, 'state.db'));
    database.exec("CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit today'); END");
    await one.once(async (litterbox) => {
      const sandbox = await litterbox.open('a');
      for (const call of [
        sandbox.run('echo x >x'),
        sandbox.write('y', 'y'),
        litterbox.milestone('a', 'm'),
        litterbox.merge('a'),
        litterbox.create({ name: 'b' }),
        litterbox.delete('a', { force: true }),
      ])
        expect(await codeOf(call)).toBe('AUDIT_UNAVAILABLE');
      expect((await litterbox.list()).map(({ name, state }) => [name, state])).toEqual([['a', 'ready']]);
      expect(Buffer.from(await sandbox.read('work')).toString()).toBe('work\n');
    });
    database.exec('DROP TRIGGER refuse');
    database.close();
    await one.once(async (litterbox) => {
      expect((await (await litterbox.open('a')).run('ls')).stdout).not.toContain('x');
    });
    await expectInvariants(one, 'after the audit log is back');
  });

  it('a clock that jumps: order, leases and locks do not care', async () => {
    await using one = scene();
    const day = 86_400_000;
    let offset = 0;
    const clock = {
      wallMs: () => Date.now() + offset,
      monotonicMs: () => performance.now(),
      sleep: async (ms: number) => await new Promise<void>((resolve) => setTimeout(resolve, ms)),
    };
    const { sqliteState } = await import('@litterbox/state-sqlite');
    const { state, audit } = sqliteState({ directory: one.stateDirectory, clock });
    await using litterbox = one.open({ parts: { clock, state, audit } });
    const sandbox = await litterbox.create({ name: 'a' });
    for (const jump of [0, -3_600_000, 365 * day, -Date.now() + 1, 0]) {
      offset = jump;
      const ran = await sandbox.run(`echo ${jump} >f`);
      one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
    }
    await litterbox.verifyAudit();
    await litterbox[Symbol.asyncDispose]();
    await expectInvariants(one, 'after the clock jumped');
  });

  it('a process id that belongs to somebody else now: what the dead one began is settled, the other one is left alone', async () => {
    await using one = scene();
    const death = await one.dying({ do: 'create', name: 'a' }, { failpoints: 'create.after-record=kill' });
    expect(death.signal).toBe('SIGKILL');
    // The owner file of the dead process takes the id of one that lives: this one.
    using database = new DatabaseSync(join(one.stateDirectory, 'state.db'));
    const { owner } = database.prepare('SELECT owner FROM journal').get() as { owner: string };
    const reused = owner.replace(/^\d+/, String(process.pid));
    renameSync(join(one.stateDirectory, 'owners', owner), join(one.stateDirectory, 'owners', reused));
    for (const table of ['journal', 'audit_open']) database.prepare(`UPDATE ${table} SET owner = ?`).run(reused);
    database.close();
    await one.once(async (litterbox) => {
      expect(await litterbox.reconcile()).toEqual(['Undid the interrupted creation of a.']);
    });
    await expectInvariants(one, 'after a process id was used again');
  });

  it.each([
    ['with spaces, quotes and a newline', 'a b\n"c"\'$(x)'],
    ['that is not ASCII', 'größe-ß-日本'],
    ['that is long', `${'long-'.repeat(8)}/`.repeat(6).slice(0, -1)],
  ])('a repository path %s works from create to merge', async (_what, name) => {
    const parent = join(process.env['TMPDIR'] ?? '/tmp', `litterbox-odd-${process.pid}`, name);
    mkdirSync(parent, { recursive: true });
    try {
      await using one = scene(undefined, parent);
      const stateDirectory = join(process.env['TMPDIR'] ?? '/tmp', `litterbox-odd-${process.pid}`, 'state');
      await using litterbox = one.open({ stateDirectory });
      const sandbox = await litterbox.create({ name: 'a' });
      expect((await sandbox.run('cat src/a.txt; echo new >new')).stdout).toBe('a\n');
      expect(await litterbox.merge('a')).toMatchObject({ isDeleted: true });
      expect(one.git('show', 'HEAD:new')).toBe('new');
    } finally {
      rmSync(join(process.env['TMPDIR'] ?? '/tmp', `litterbox-odd-${process.pid}`), { recursive: true, force: true });
    }
  });

  it.each([
    ['no HOME', { HOME: '' }],
    ['a HOME that is not there', { HOME: '/nowhere/at/all' }],
    ['no runtime directory', { XDG_RUNTIME_DIR: '/nowhere' }],
  ])('%s: it works', async (_what, environment) => {
    await using one = scene();
    await using client = one.client({ environment });
    await client.do({ do: 'create', name: 'a' });
    expect(await client.do({ do: 'run', name: 'a', command: 'cat src/a.txt' })).toMatchObject({ stdout: 'a\n' });
    await client.ended();
    await expectInvariants(one, 'with an odd environment');
  });
});

describe('a setup command', () => {
  it.each([
    ['fails', 'echo why; exit 3', 'why'],
    ['is killed for its memory', 'head -c 6000000000 /dev/zero | tail -n 1 >/dev/null', ''],
  ])('that %s: SETUP_FAILED, the sandbox is kept for a look and is not ready', async (_what, setup, says) => {
    await using one = scene();
    await one.once(async (litterbox) => {
      const creating = litterbox.create({ name: 'a', setup });
      await expect(creating).rejects.toMatchObject({ code: 'SETUP_FAILED', message: expect.stringContaining(says) });
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['setup-failed']);
    });
    await expectInvariants(one, 'after a failed setup');
  });

  it('that hangs is killed after its time', async () => {
    await using one = scene();
    await one.once(async (litterbox) => {
      const setup = { setup: 'sleep 1000', setupTimeoutMs: 1_000 };
      await expect(litterbox.create({ name: 'a', ...setup })).rejects.toMatchObject({ code: 'SETUP_FAILED' });
    });
    await expectInvariants(one, 'after a setup that hung');
  });
});
