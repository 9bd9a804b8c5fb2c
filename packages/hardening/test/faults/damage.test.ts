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
import { expectInvariants, type FaultFixture, faultFixture } from '../../src/index.ts';

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    return isLitterboxError(error) ? error.code : String(error);
  }
}

/** A fixture with a sandbox `a` of one revision. */
async function prepared(): Promise<FaultFixture> {
  const fixture = faultFixture();
  await fixture.once(async (litterbox) => {
    const ran = await (await litterbox.create({ name: 'a' })).run('echo work >work');
    fixture.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
  });
  return fixture;
}

function storeOf(fixture: FaultFixture): string {
  const repos = join(fixture.stateDirectory, 'repos');
  return join(repos, readdirSync(repos).find((name) => /^[0-9a-f-]{36}$/.test(name)) ?? '');
}

describe('stale locks', () => {
  it('of refs in the store are written over, and reconcile removes them', async () => {
    await using fixture = await prepared();
    const store = join(storeOf(fixture), 'store.git/refs/litterbox');
    const [id = ''] = readdirSync(store).filter((name) => name !== 'tombstones');
    writeFileSync(join(store, id, 'tip.lock'), 'dead');
    writeFileSync(join(store, id, 'other.lock'), 'dead');
    await fixture.once(async (litterbox) => {
      expect(await codeOf((await litterbox.open('a')).run('echo more >more'))).toBe('ok');
      await litterbox.reconcile();
    });
    await expectInvariants(fixture, 'after stale locks of the store');
  });

  it.each(['index.lock', 'HEAD.lock', 'refs/heads/main.lock'])(
    'of the person, %s: named with its age and left alone; gone, all works',
    async (name) => {
      await using fixture = await prepared();
      const lock = join(fixture.repository, '.git', name);
      writeFileSync(lock, '');
      utimesSync(lock, new Date(Date.now() - 90_000), new Date(Date.now() - 90_000));
      await fixture.once(async (litterbox) => {
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
      fixture.accept();
      await expectInvariants(fixture, 'after the lock was removed');
    },
  );

  it.each(['config.lock', 'gc.pid', 'packed-refs.lock'])(
    'of the person, %s, keep nobody from recording',
    async (name) => {
      await using fixture = await prepared();
      const lock = join(fixture.repository, '.git', name);
      writeFileSync(lock, '1 elsewhere');
      await fixture.once(async (litterbox) => {
        expect(await codeOf((await litterbox.open('a')).run('echo more >more'))).toBe('ok');
        await litterbox.reconcile();
      });
      expect(readFileSync(lock, 'utf8')).toBe('1 elsewhere');
      rmSync(lock);
      await expectInvariants(fixture, 'after the lock was removed');
    },
  );
});

describe('the journal of an apply or merge', () => {
  it('torn: nothing is guessed, the file is named, and without it all works', async () => {
    await using fixture = await prepared();
    const journal = join(storeOf(fixture), 'integration.json');
    writeFileSync(journal, '{"version":1,"phase":"upda');
    await fixture.once(async (litterbox) => {
      await expect(litterbox.reconcile()).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        details: { hint: expect.stringContaining(journal) },
      });
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['ready']);
      rmSync(journal);
      await litterbox.reconcile();
    });
    await expectInvariants(fixture, 'after the journal was removed');
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
    await using fixture = await prepared();
    const store = join(storeOf(fixture), 'store.git');
    const [id = ''] = readdirSync(join(store, 'refs/litterbox')).filter((name) => name !== 'tombstones');
    backup(store);
    damage(store, id);
    const digest = fixture.digest;
    await fixture.once(async (litterbox) => {
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
    fixture.accept();
    expect([...fixture.digest]).toEqual([...digest]);
    // The person puts the backup back.
    rmSync(store, { recursive: true });
    renameSync(`${store}.backup`, store);
    await fixture.once(async (litterbox) => {
      await litterbox.reconcile();
      expect(await codeOf((await litterbox.open('a')).run('echo y >y'))).toBe('ok');
    });
    await expectInvariants(fixture, 'after the backup is back');
  });

  function backup(store: string): void {
    execFileSync('cp', ['-a', store, `${store}.backup`]);
  }
});

describe("the user's own git", () => {
  it('gc --prune=now, repack, rebase and a deleted base branch: every revision stays readable', async () => {
    await using fixture = faultFixture();
    fixture.commit('base.txt', 'base\n');
    fixture.git('checkout', '-q', '-b', 'side');
    fixture.commit('side.txt', 'side\n');
    await fixture.once(async (litterbox) => {
      const ran = await (await litterbox.create({ name: 'a' })).run('echo work >work');
      fixture.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
    });
    fixture.git('checkout', '-q', 'main');
    fixture.git('branch', '-q', '-D', 'side');
    fixture.git('commit', '-q', '--amend', '-m', 'rewritten');
    fixture.git('reflog', 'expire', '--expire=now', '--all');
    fixture.git('gc', '-q', '--prune=now');
    fixture.git('repack', '-q', '-a', '-d');
    fixture.accept();
    await fixture.once(async (litterbox) => {
      const sandbox = await litterbox.open('a');
      expect((await sandbox.run('cat side.txt; echo more >more')).stdout).toBe('side\n');
      expect((await litterbox.changes('a')).map(({ path }) => path)).toEqual(['more', 'work']);
      await litterbox.restore('a', '1');
      await litterbox.milestone('a', 'after gc');
    });
    await expectInvariants(fixture, 'after gc');
  });

  it('a repository that was moved is found by what it is', async () => {
    await using fixture = await prepared();
    const elsewhere = `${fixture.repository}-moved`;
    renameSync(fixture.repository, elsewhere);
    try {
      await using litterbox = fixture.open({ repo: elsewhere });
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a']);
      expect((await (await litterbox.open('a')).run('cat work')).stdout).toBe('work\n');
    } finally {
      renameSync(elsewhere, fixture.repository);
    }
    await expectInvariants(fixture, 'after it is back');
  });
});

describe('the overlay', () => {
  it("what the user does to the repository's files does not show in a sandbox", async () => {
    await using fixture = await prepared();
    fixture.file('src/a.txt', 'changed outside\n');
    fixture.accept();
    await fixture.once(async (litterbox) => {
      expect((await (await litterbox.open('a')).run('cat src/a.txt')).stdout).toBe('a\n');
    });
    await expectInvariants(fixture, 'after a change outside');
  });

  it('a work directory that is not empty, as after a crash, does not keep a session from starting', async () => {
    await using fixture = await prepared();
    const sandboxes = join(fixture.stateDirectory, 'overlayfs/sandboxes');
    const [id = ''] = readdirSync(sandboxes);
    const kernels = join(sandboxes, id, 'work/work');
    chmodSync(kernels, 0o700); // as the kernel made it nobody but root enters it
    mkdirSync(join(kernels, '#left'));
    writeFileSync(join(kernels, '#left/file'), 'left');
    chmodSync(kernels, 0);
    await fixture.once(async (litterbox) => {
      expect((await (await litterbox.open('a')).run('cat work')).stdout).toBe('work\n');
    });
    await expectInvariants(fixture, 'after a full work directory');
  });

  it('a sandbox whose directory is gone is missing; recover builds it anew from the last revision', async () => {
    await using fixture = await prepared();
    const sandboxes = join(fixture.stateDirectory, 'overlayfs/sandboxes');
    const gone = join(fixture.directory, 'gone');
    for (const name of readdirSync(sandboxes)) renameSync(join(sandboxes, name), gone);
    execFileSync('chmod', ['-R', 'u+rwx', gone]); // for the end of the test
    await fixture.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['missing']);
      expect(await codeOf((await litterbox.open('a')).run('true'))).toBe('SANDBOX_RUNTIME_MISSING');
      await litterbox.recover('a');
      expect((await (await litterbox.open('a')).run('cat work')).stdout).toBe('work\n');
    });
    await expectInvariants(fixture, 'after recover');
  });

  it('fifty sessions leave no mount, group or process', async () => {
    await using fixture = await prepared();
    for (let session = 0; session < 50; session++)
      await fixture.once(async (litterbox) => await (await litterbox.open('a')).run('true'));
    await expectInvariants(fixture, 'after fifty sessions');
  });
});

describe('tools, audit and state', () => {
  it('a tool that went away is named, and the state is as before when it is back', async () => {
    await using fixture = await prepared();
    const hidden = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--'];
    await using client = fixture.client({ wrapper: ['bwrap', ...hidden] });
    client.send({ do: 'run', name: 'a', command: 'true' });
    const reply = await client.reply();
    expect(reply?.error?.code).toMatch(/^(TOOL_MISSING|UNAVAILABLE)$/);
    await client.ended();
    await expectInvariants(fixture, 'without tools');
  });

  it('an audit log that cannot be written: what changes something is refused, looking works', async () => {
    await using fixture = await prepared();
    const database = new DatabaseSync(join(fixture.stateDirectory, 'state.db'));
    database.exec("CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit today'); END");
    await fixture.once(async (litterbox) => {
      const sandbox = await litterbox.open('a');
      for (const call of [
        sandbox.run('echo x >x'),
        sandbox.files.write('y', 'y'),
        litterbox.milestone('a', 'm'),
        litterbox.merge('a'),
        litterbox.create({ name: 'b' }),
        litterbox.delete('a', { force: true }),
      ])
        expect(await codeOf(call)).toBe('AUDIT_UNAVAILABLE');
      expect((await litterbox.list()).map(({ name, state }) => [name, state])).toEqual([['a', 'ready']]);
      expect(Buffer.from(await sandbox.files.read('work')).toString()).toBe('work\n');
    });
    database.exec('DROP TRIGGER refuse');
    database.close();
    await fixture.once(async (litterbox) => {
      expect((await (await litterbox.open('a')).run('ls')).stdout).not.toContain('x');
    });
    await expectInvariants(fixture, 'after the audit log is back');
  });

  it('a clock that jumps: order, leases and locks do not care', async () => {
    await using fixture = faultFixture();
    const day = 86_400_000;
    let offset = 0;
    const clock = {
      wallMs: () => Date.now() + offset,
      monotonicMs: () => performance.now(),
      sleep: async (ms: number) => await new Promise<void>((resolve) => setTimeout(resolve, ms)),
    };
    const { sqliteState } = await import('@litterbox/state-sqlite');
    const { state, audit } = sqliteState({ directory: fixture.stateDirectory, clock });
    await using litterbox = fixture.open({ parts: { clock, state, audit } });
    const sandbox = await litterbox.create({ name: 'a' });
    for (const jump of [0, -3_600_000, 365 * day, -Date.now() + 1, 0]) {
      offset = jump;
      const ran = await sandbox.run(`echo ${jump} >f`);
      fixture.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
    }
    await litterbox.verifyAudit();
    await litterbox[Symbol.asyncDispose]();
    await expectInvariants(fixture, 'after the clock jumped');
  });

  it('a process id that belongs to somebody else now: what the dead one began is settled, the other one is left alone', async () => {
    await using fixture = faultFixture();
    const death = await fixture.dying({ do: 'create', name: 'a' }, { failpoints: 'create.after-record=kill' });
    expect(death.signal).toBe('SIGKILL');
    // The owner file of the dead process takes the id of one that lives: this one.
    using database = new DatabaseSync(join(fixture.stateDirectory, 'state.db'));
    const { owner } = database.prepare('SELECT owner FROM journal').get() as { owner: string };
    const reused = owner.replace(/^\d+/, String(process.pid));
    renameSync(join(fixture.stateDirectory, 'owners', owner), join(fixture.stateDirectory, 'owners', reused));
    for (const table of ['journal', 'audit_open']) database.prepare(`UPDATE ${table} SET owner = ?`).run(reused);
    database.close();
    await fixture.once(async (litterbox) => {
      expect(await litterbox.reconcile()).toEqual(['Undid the interrupted creation of a.']);
    });
    await expectInvariants(fixture, 'after a process id was used again');
  });

  it.each([
    ['with spaces, quotes and a newline', 'a b\n"c"\'$(x)'],
    ['that is not ASCII', 'größe-ß-日本'],
    ['that is long', `${'long-'.repeat(8)}/`.repeat(6).slice(0, -1)],
  ])('a repository path %s works from create to merge', async (_what, name) => {
    const parent = join(process.env['TMPDIR'] ?? '/tmp', `litterbox-odd-${process.pid}`, name);
    mkdirSync(parent, { recursive: true });
    try {
      await using fixture = faultFixture(undefined, parent);
      const stateDirectory = join(process.env['TMPDIR'] ?? '/tmp', `litterbox-odd-${process.pid}`, 'state');
      await using litterbox = fixture.open({ stateDirectory });
      const sandbox = await litterbox.create({ name: 'a' });
      expect((await sandbox.run('cat src/a.txt; echo new >new')).stdout).toBe('a\n');
      expect(await litterbox.merge('a')).toMatchObject({ isDeleted: true });
      expect(fixture.git('show', 'HEAD:new')).toBe('new');
    } finally {
      rmSync(join(process.env['TMPDIR'] ?? '/tmp', `litterbox-odd-${process.pid}`), { recursive: true, force: true });
    }
  });

  it.each([
    ['no HOME', { HOME: '' }],
    ['a HOME that is not there', { HOME: '/nowhere/at/all' }],
    ['no runtime directory', { XDG_RUNTIME_DIR: '/nowhere' }],
  ])('%s: it works', async (_what, environment) => {
    await using fixture = faultFixture();
    await using client = fixture.client({ environment });
    await client.do({ do: 'create', name: 'a' });
    expect(await client.do({ do: 'run', name: 'a', command: 'cat src/a.txt' })).toMatchObject({ stdout: 'a\n' });
    await client.ended();
    await expectInvariants(fixture, 'with an odd environment');
  });
});

describe('a setup command', () => {
  it.each([
    ['fails', 'echo why; exit 3', 'why'],
    ['is killed for its memory', 'head -c 6000000000 /dev/zero | tail -n 1 >/dev/null', ''],
  ])('that %s: SETUP_FAILED, the sandbox is kept for a look and is not ready', async (_what, setup, says) => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => {
      const creating = litterbox.create({ name: 'a', setup });
      await expect(creating).rejects.toMatchObject({ code: 'SETUP_FAILED', message: expect.stringContaining(says) });
      expect((await litterbox.list()).map(({ state }) => state)).toEqual(['setup-failed']);
    });
    await expectInvariants(fixture, 'after a failed setup');
  });

  it('that hangs is killed after its time', async () => {
    await using fixture = faultFixture();
    await fixture.once(async (litterbox) => {
      const setup = { setup: 'sleep 1000', setupTimeoutMs: 1_000 };
      await expect(litterbox.create({ name: 'a', ...setup })).rejects.toMatchObject({ code: 'SETUP_FAILED' });
    });
    await expectInvariants(fixture, 'after a setup that hung');
  });
});
