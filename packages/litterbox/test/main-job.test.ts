import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Approver, isLitterboxError, type LitterboxErrorCode, readLog } from '@litterbox/core';
import { localHost } from '@litterbox/host';
import { PROVIDER, provider } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

const coded = (code: LitterboxErrorCode) => (error: unknown) => isLitterboxError(error, code);
async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe(`the main job on ${PROVIDER}`, () => {
  it('a sandbox has every verb of its own, and speaks text', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'verbs' });
    const heard: string[] = [];
    const ran = await sandbox.run('cat; echo ü >&2', {
      stdin: 'given\n',
      onStdout: (text) => heard.push(`out ${text}`),
      onStderr: (text) => heard.push(`err ${text}`),
    });
    expect([ran.stdout, ...heard.toSorted()]).toEqual(['given\n', 'err ü\n', 'out given\n']);
    const large = ReadableStream.from(Array.from({ length: 80 }, () => new Uint8Array(2 ** 16).fill(0x61)));
    expect((await sandbox.run('wc -c; ls -A /playground', { stdin: large })).stdout.trim()).toBe(String(80 * 2 ** 16));
    await sandbox.files.write('src/a.txt', 'one\n');
    await sandbox.files.write('src/b.txt', 'two ü\n');
    expect(await sandbox.files.readText('src/b.txt')).toBe('two ü\n');
    expect(await sandbox.files.exists('src/none')).toBe(false);
    await sandbox.files.upload({ '/tmp/one': 'one', '/tmp/sub/two': 'two' });
    await using spawned = await sandbox.spawn('tr a-z A-Z; sleep 1000 & echo over >&2; exit 4');
    const writer = spawned.stdin.getWriter();
    await writer.write('talk\n');
    const upper = spawned.stdout.getReader();
    expect((await sandbox.run('true')).exitCode).toBe(0); // beside it
    await writer.close();
    expect(Buffer.from((await upper.read()).value ?? []).toString()).toBe('TALK\n');
    expect((await upper.read()).done).toBe(true);
    expect(await spawned.wait()).toMatchObject({ exitCode: 4, recorded: { changedFiles: 0 } });
    const downloaded = await sandbox.files.download(['/tmp/one', '/tmp/sub/two']);
    expect([...downloaded.values()].map((bytes) => Buffer.from(bytes).toString())).toEqual(['one', 'two']);
    expect((await sandbox.changes()).map(({ path }) => path)).toEqual(['src/a.txt', 'src/b.txt']);
    expect(await sandbox.assurance()).toEqual((await litterbox.assurance('verbs')).assurance);
    await sandbox.restore('1');
    expect((await sandbox.changes()).map(({ path }) => path)).toEqual(['src/a.txt']);
    expect(await sandbox.setRunState('paused')).toMatchObject({ record: { slug: 'verbs' } });
    await sandbox.setRunState('ready');
    const { tip } = await sandbox.plan({ integration: 'apply' });
    expect(await sandbox.apply({ tip })).toMatchObject({ outcome: 'staged' });
    expect(fixture.git('status', '--porcelain')).toBe('M  src/a.txt');
    await expect(sandbox.recover()).rejects.toMatchObject({ code: 'CONFLICT' });
    {
      await using gone = await litterbox.create({ name: 'gone', ephemeral: true, labels: { task: 'x' } });
      await gone.files.write('work', 'x');
      expect((await litterbox.list('repository', { labels: { task: 'x' } })).map(({ name }) => name)).toEqual(['gone']);
      expect(await fixture.open().reconcile()).toEqual([]); // another program
    }
    expect((await litterbox.list()).map(({ name }) => name)).toEqual(['verbs']);
    await sandbox.delete({ force: true });
    expect(await litterbox.list()).toEqual([]);
  });

  it('a sandbox begins with files where there is no repository, and its work is taken out', async () => {
    await using fixture = new LibraryFixture();
    await using litterbox = fixture.open({ repo: false });
    await using sandbox = await litterbox.create({
      name: 'given',
      ephemeral: true,
      files: { 'src/main.sh': 'echo one\n', 'logo.png': Uint8Array.of(0xff, 0), '.gitignore': 'log\n' },
    });
    expect((await sandbox.run('pwd; sh src/main.sh | tee log new')).stdout).toBe('/src\none\n');
    expect((await sandbox.changes()).map(({ path, status }) => [path, status])).toEqual([['new', 'added']]);
    const archive = Buffer.from(await new Response(await sandbox.files.archive()).arrayBuffer());
    expect(execFileSync('tar', ['-tf', '-'], { input: archive, encoding: 'utf8' }).split('\n').toSorted()).toEqual(
      ['', '.gitignore', 'logo.png', 'new', 'src/', 'src/main.sh'], // not what git ignores
    );
    const nowhere = [
      sandbox.plan({ integration: 'apply' }),
      sandbox.apply(),
      sandbox.merge(),
      litterbox.worktree('given'),
      litterbox.create({ from: 'worktree' }),
      litterbox.create({ lower: 'live' }),
    ];
    for (const refused of nowhere) await expect(refused).rejects.toMatchObject({ code: 'NO_REPOSITORY' });
    await expect(sandbox.delete()).rejects.toMatchObject({ code: 'UNMERGED_WORK' });
    await expect(fixture.open().create({ files: {} })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const second = fixture.open({ repo: false });
    const [fork, other] = [await sandbox.fork({ ephemeral: true }), await second.open('given')];
    expect([await fork.files.readText('new'), other.id]).toEqual(['one\n', sandbox.id]);
    await other.fork({ ephemeral: true, labels: { of: 'given' } }); // goes with its Litterbox
    expect((await second.list()).map(({ name }) => name)).toEqual(['given', 'given-2', 'given-3']);
    await second[Symbol.asyncDispose]();
    await fork[Symbol.asyncDispose]();
    expect((await litterbox.list()).map(({ name }) => name)).toEqual(['given']);
    expect(await fixture.open().list()).toEqual([]);
  });

  it('create, run, write, log, diff, milestone, merge: one diff to accept', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const before = fixture.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
    const sandbox = await litterbox.create({ name: 'Fix Login' });
    expect({ name: sandbox.name, isRenamed: sandbox.created.isRenamed }).toEqual({
      name: 'fix-login',
      isRenamed: false,
    });

    const ran = await sandbox.run(
      'echo changed >src/a.txt; mkdir ignored; echo x >ignored/x; echo new >src/b.txt; echo said; exit 3',
    );
    expect({ exitCode: ran.exitCode, stdout: ran.stdout, changedFiles: ran.recorded.changedFiles }).toEqual({
      exitCode: 3,
      stdout: 'said\n',
      changedFiles: 2,
    });
    expect((await sandbox.run(['true'])).recorded.revision).toBeUndefined();
    expect((await sandbox.files.write('src/c.txt', 'c\n', { message: 'Add c' })).revision?.number).toBe(2);
    expect(new TextDecoder().decode(await sandbox.files.read('src/c.txt'))).toBe('c\n');

    const log = await sandbox.log();
    expect(log.map(({ number, subject }) => [number, subject])).toEqual([
      [2, 'Add c'],
      [1, expect.stringMatching(/^run: echo changed >src\/a\.txt; mkdir ignored; .*…$/)],
    ]);
    expect(log[1]?.subject.length).toBeLessThanOrEqual(72);
    expect(Object.fromEntries(log[1]?.trailers ?? [])).toMatchObject({
      'Litterbox-Tool': 'run',
      'Litterbox-Sandbox': 'fix-login',
      'Litterbox-Exit-Code': '3',
    });
    const diff = await sandbox.diff();
    expect(diff).toContain('-a\n+changed\n');
    expect(diff).not.toContain('ignored');

    expect(fixture.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads')).toBe(before);
    expect(fixture.git('status', '--porcelain')).toBe('');
    const milestone = await sandbox.milestone('Login works');
    expect(milestone).toMatchObject({ branch: 'refs/heads/litterbox/fix-login', revisions: 2 });
    expect(fixture.git('log', '-1', '--format=%s', 'litterbox/fix-login')).toBe('Login works');
    expect(readFileSync(join(fixture.repository, 'src/a.txt'), 'utf8')).toBe('a\n');

    const merged = await litterbox.merge('fix-login');
    expect({ outcome: merged.outcome, isDeleted: merged.isDeleted }).toEqual({ outcome: 'committed', isDeleted: true });
    expect(readFileSync(join(fixture.repository, 'src/a.txt'), 'utf8')).toBe('changed\n');
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect(fixture.git('for-each-ref', 'refs/litterbox')).toBe('');
    expect(await litterbox.list()).toEqual([]);
    expect((await litterbox.verifyAudit()).entries).toBeGreaterThan(5);
    expect((await litterbox.audit()).map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['sandbox-create', 'sandbox-run', 'sandbox-write', 'sandbox-milestone', 'sandbox-merge']),
    );
  });

  it('a name that is taken is refused, and nothing changes', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    await litterbox.create({ name: 'a b' });
    expect(await refusal(litterbox.create({ name: 'A_B' }))).toSatisfyError(coded('SANDBOX_EXISTS'));
    expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a-b']);
    for (const call of [
      litterbox.open('nobody'),
      litterbox.delete('nobody', { force: true }),
      litterbox.setRunState('nobody', 'paused'),
      litterbox.setRunState('nobody', 'ready'),
      litterbox.merge('nobody'),
    ])
      expect(await refusal(call)).toSatisfyError(coded('SANDBOX_NOT_FOUND'));
  });

  it('an eager tree is there from the start and follows each milestone', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'keen', worktrees: 'eager' });
    const tree = join(fixture.repository, '.litterbox/worktrees/keen/src');
    expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('a\n');
    await sandbox.files.write('src/a.txt', 'b\n');
    expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('a\n');
    await sandbox.milestone('It is b');
    expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('b\n');
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it('untracked and ignored files and .git never enter; uncommitted edits are told, or come along with worktree', async () => {
    await using fixture = new LibraryFixture();
    fixture.file('.env', 'SECRET=1\n');
    fixture.file('ignored/cache', 'x\n');
    fixture.file('new.txt', 'new\n');
    fixture.file('src/a.txt', 'mine\n');
    const litterbox = fixture.open();
    const head = await litterbox.create({ name: 'plain' });
    expect(await head.created.leftOut).toMatchObject({ total: 3 });
    expect((await head.run('ls -A; cat src/a.txt; ls .git .env new.txt ignored 2>/dev/null')).stdout).toBe(
      '.gitignore\nsrc\na\n',
    );
    const tree = await litterbox.create({ name: 'tree', from: 'worktree' });
    expect((await tree.run('cat src/a.txt new.txt; ls -d .env ignored .git 2>/dev/null')).stdout).toBe('mine\nnew\n');
    expect(tree.created.heldBack).toMatchObject({ total: 1, files: [{ path: '.env', isTracked: false }] });
    const named = await litterbox.create({ name: 'named', from: 'worktree', include: ['.env', 'ignored'] });
    expect((await named.run('cat .env ignored/cache; echo more >>ignored/cache')).stdout).toBe('SECRET=1\nx\n');
    expect(await litterbox.changes('named')).toEqual([]);
    await tree.run('echo theirs >other.txt');
    expect((await litterbox.changes('tree')).map(({ path }) => path)).toEqual(['other.txt']);
    expect(readFileSync(join(fixture.repository, 'src/a.txt'), 'utf8')).toBe('mine\n');
  });

  it("apply leaves the sandbox, merge of a conflict leaves git's own state that can be aborted", async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const one = await litterbox.create({ name: 'one' });
    await one.files.write('src/new.txt', 'new\n');
    expect((await litterbox.apply('one')).outcome).toBe('staged');
    expect(fixture.git('status', '--porcelain')).toBe('A  src/new.txt');
    fixture.git('commit', '-q', '-m', 'applied');
    const two = await litterbox.create({ name: 'two' });
    await two.files.write('src/a.txt', 'theirs\n');
    fixture.file('src/a.txt', 'ours\n');
    fixture.git('commit', '-q', '-am', 'ours');
    expect((await litterbox.plan({ sandbox: 'two', integration: 'merge' })).conflicts).toEqual(['src/a.txt']);
    expect((await litterbox.merge('two')).outcome).toBe('conflicts');
    expect(fixture.git('status', '--porcelain')).toBe('UU src/a.txt');
    fixture.git('merge', '--abort');
    expect(readFileSync(join(fixture.repository, 'src/a.txt'), 'utf8')).toBe('ours\n');
    expect((await litterbox.list()).map(({ name }) => name)).toEqual(['one', 'two']);
  });

  it("files that run code on the person's machine need a yes", async () => {
    await using fixture = new LibraryFixture();
    const asked: string[] = [];
    const litterbox = fixture.open({ approver: { approve: async ({ details }) => (asked.push(...details), false) } });
    const sandbox = await litterbox.create({ name: 'risky' });
    await sandbox.files.write('.vscode/tasks.json', '{}\n');
    const error = await refusal(litterbox.merge('risky'));
    expect(error).toSatisfyError(coded('RISKY_CHANGES'));
    expect(asked.join()).toContain('.vscode/tasks.json');
    expect(existsSync(join(fixture.repository, '.vscode'))).toBe(false);
    // The yes of a program is one to a state, which it names.
    expect(await refusal(litterbox.merge('risky', { acceptRisky: true }))).toMatchObject({ code: 'RISKY_CHANGES' });
    const { tip } = await litterbox.plan({ sandbox: 'risky', integration: 'merge' });
    expect((await litterbox.merge('risky', { acceptRisky: true, tip })).outcome).toBe('committed');
  });

  it('deleting work that is nowhere else needs force', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'work' });
    await sandbox.files.write('x', 'x');
    expect(await refusal(litterbox.delete('work'))).toSatisfyError(coded('UNMERGED_WORK'));
    await litterbox.delete('work', { force: true });
    expect(await litterbox.list()).toEqual([]);
  });

  it('deleting a sandbox in which a command runs is refused, until it was stopped', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'active' });
    const { promise: isRunning, resolve: onOutput } = Promise.withResolvers<unknown>();
    const command = Promise.allSettled([sandbox.run('echo begun; sleep 1000', { onOutput })]);
    await isRunning;
    const other = fixture.open();
    const refused = await refusal(other.delete('active'));
    expect(refused).toSatisfyError(coded('SANDBOX_ACTIVE'));
    expect((refused as Error).message).toBe(
      'active is busy: "echo begun; sleep 1000" is still running (this process). Gave up after 2 s.',
    );
    expect(await other.list()).toMatchObject([{ name: 'active', state: 'ready' }]);
    await other.setRunState('active', 'stopped');
    await command;
    await other.delete('active');
    expect(await other.list()).toEqual([]);
  });

  it('pause, resume, stop; a paused sandbox refuses commands at once', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'rest' });
    expect((await litterbox.setRunState('rest', 'paused')).isChanged).toBe(true);
    expect((await litterbox.setRunState('rest', 'paused')).isChanged).toBe(false);
    expect(await refusal(sandbox.run('true'))).toSatisfyError(coded('SANDBOX_PAUSED'));
    expect((await litterbox.list())[0]?.state).toBe('paused');
    await litterbox.setRunState('rest', 'ready');
    expect((await sandbox.run('echo on')).stdout).toBe('on\n');
    await litterbox.setAllRunStates('repository', 'paused');
    expect(await refusal(sandbox.run('true'))).toSatisfyError(coded('SANDBOX_PAUSED'));
    await litterbox.setAllRunStates('repository', 'ready');
    await litterbox.setAllRunStates('repository', 'stopped');
    expect(await refusal(sandbox.run('true'))).toSatisfyError(coded('SANDBOX_STOPPED'));
    await litterbox.setAllRunStates('all', 'ready');
    expect((await sandbox.run('cat src/a.txt')).stdout).toBe('a\n');
  });

  it('restore goes back to a revision and keeps the history; recover rebuilds a lost runtime', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'time' });
    await sandbox.files.write('src/a.txt', 'one\n');
    await sandbox.files.write('src/a.txt', 'two\n');
    await sandbox.run(
      'mkdir -p ignored deep/er && echo kept >ignored/x && echo home >~/x && echo z >deep/er/z && rm src/a.txt && mkdir -p src/a.txt/sub && echo s >src/a.txt/sub/s',
    );
    expect((await litterbox.restore('time', '1')).revision?.number).toBe(4);
    expect((await sandbox.run('cat src/a.txt ignored/x ~/x; ls; ls -A src')).stdout).toBe(
      'one\nkept\nhome\nignored\nsrc\na.txt\n',
    );
    expect((await litterbox.restore('time', '1')).revision).toBeUndefined();
    expect((await litterbox.restore('time', '3')).revision?.number).toBe(5);
    expect((await sandbox.run('cat deep/er/z src/a.txt/sub/s')).stdout).toBe('z\ns\n');
    expect((await litterbox.restore('time', '1')).revision?.number).toBe(6);
    expect((await sandbox.log()).map(({ subject }) => subject.split(':')[0])).toEqual([
      'restore',
      'restore',
      'restore',
      'run',
      'write',
      'write',
    ]);
    await sandbox.files.write('src/b.txt', 'b\n');
    await sandbox.run('echo p >"$LITTERBOX_PLAYGROUND/p"');
    const runtimes = provider({
      host: localHost(),
      facts: await localHost().facts(),
      directory: fixture.stateDirectory,
    });
    await runtimes.remove(sandbox.record.id);
    await sandbox[Symbol.asyncDispose]();
    expect((await litterbox.list())[0]?.state).toBe('missing');
    expect(await refusal(sandbox.run('true'))).toSatisfyError(coded('SANDBOX_RUNTIME_MISSING'));
    await litterbox.recover('time');
    expect((await sandbox.run('cat src/a.txt src/b.txt')).stdout).toBe('one\nb\n');
    expect((await sandbox.files.write('src/c.txt', 'c\n')).revision?.number).toBe(8);
    await sandbox.run('echo p >"$LITTERBOX_PLAYGROUND/p"');
    expect(await refusal(litterbox.recover('time'))).toSatisfyError(coded('CONFLICT'));
    await litterbox.recover('time', { force: true });
    // Of a pod nothing stays behind.
    const kept = PROVIDER === 'kubernetes' ? '' : 'p\n';
    expect((await sandbox.run('cat "$LITTERBOX_PLAYGROUND/p" src/c.txt')).stdout).toBe(`${kept}c\n`);
  });

  it('a rule that is no longer ignored brings its files in', async () => {
    await using fixture = new LibraryFixture();
    const sandbox = await fixture.open().create({ name: 'rules' });
    await sandbox.run('mkdir ignored && echo x >ignored/x');
    const { recorded } = await sandbox.run('echo >.gitignore');
    expect(recorded.changedFiles).toBe(2);
    expect(await sandbox.diff()).toContain('ignored/x');
  });

  it('hard links, unreadable files and odd names are recorded or told', async () => {
    await using fixture = new LibraryFixture();
    const sandbox = await fixture.open().create({ name: 'odd' });
    const { recorded } = await sandbox.run(
      'echo x >one && ln one two && echo y >secret && chmod 000 secret && echo z >"new\nline" && mkfifo pipe && echo w >-dash',
    );
    expect((await sandbox.refresh()).name).toBe('odd');
    expect(recorded.warnings.map(({ type }) => type).sort()).toEqual(['refused-path', 'unreadable']);
    const litterbox = fixture.open();
    expect((await litterbox.changes('odd')).map(({ path }) => path).sort()).toEqual([
      '-dash',
      'new\nline',
      'one',
      'two',
    ]);
  });

  it('the setup command runs once; when it fails the sandbox is kept for a look', async () => {
    await using fixture = new LibraryFixture({
      '.litterbox.toml': '[container]\nsetup-command = ["sh", "-c", "echo ready >setup.txt"]\n',
    });
    const litterbox = fixture.open();
    expect(await refusal(litterbox.create({ name: 'set' }))).toSatisfyError(coded('CONFIG_UNTRUSTED'));
    const { contentHash, trustText } = await litterbox.trustStatus();
    expect(trustText).toContain('container.setup-command');
    expect((await litterbox.trust(contentHash)).isTrusted).toBe(true);
    const sandbox = await litterbox.create({ name: 'set' });
    expect((await sandbox.run('cat setup.txt')).stdout).toBe('ready\n');
    expect((await sandbox.log()).map(({ subject }) => subject)).toEqual(['setup: sh -c echo ready >setup.txt']);
    await sandbox.run('rm setup.txt');
    await litterbox.recover('set', { force: true });
    expect((await sandbox.run('cat setup.txt')).stdout).toBe('ready\n');
    expect((await litterbox.list())[0]?.state).toBe('ready');
    const error = await refusal(litterbox.create({ name: 'bad', setup: [['sh', '-c', 'echo why >&2; exit 7']] }));
    expect(error).toSatisfyError(coded('SETUP_FAILED'));
    expect(String(error)).toContain('why');
    expect((await litterbox.list()).find(({ name }) => name === 'bad')?.state).toBe('setup-failed');
    expect(await refusal(litterbox.create({ name: 'gone', rollback: true, setup: [['false']] }))).toSatisfyError(
      coded('SETUP_FAILED'),
    );
    expect((await litterbox.list()).map(({ name }) => name)).toEqual(['set', 'bad']);
  });

  if (PROVIDER === 'overlayfs') {
    it('makes the workspace in the way the configuration names, or refuses', async () => {
      await using fixture = new LibraryFixture({ '.litterbox.toml': 'overlayfs.strategy = "copy"\n' });
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'copied' });
      expect(sandbox.record.assurance?.mechanism).toMatch(/^copy/);
      expect((await sandbox.run('echo x >x')).recorded.changedFiles).toBe(1);
      fixture.file('.litterbox.toml', 'overlayfs.strategy = "zfs"\n');
      expect(await refusal(litterbox.create({ name: 'cloned' }))).toSatisfyError(coded('UNSUPPORTED'));
      expect(await refusal(litterbox.create({ name: 'many', openFiles: 1_048_576, setup: 'true' }))).toSatisfyError(
        coded('UNSUPPORTED'),
      );
    });
  }

  it('the log tells of calls that changed nothing, at their place', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'calls' });
    await sandbox.run('true');
    await sandbox.files.write('a', '1');
    await sandbox.run('false');
    await sandbox.files.write('a', '1');
    await sandbox.run('echo 2 >a');
    const history = async (input: object) =>
      (await litterbox.perform(readLog, { sandbox: 'calls', ...input })).map((entry) =>
        entry.type === 'call' ? `${entry.subject} ${entry.exitCode ?? ''}`.trim() : entry.number,
      );
    expect(await history({})).toEqual([2, 'a', 'false 1', 1, 'true 0']);
    expect(await history({ limit: 3 })).toEqual([2, 'a', 'false 1']);
    expect(await history({ revisionsOnly: true })).toEqual([2, 1]);
  });

  it('what was shown is what is merged, and nobody waits while a person reads', async () => {
    await using fixture = new LibraryFixture();
    let meanwhile: () => Promise<void> = async () => {};
    const approver: Approver = {
      async approve() {
        await meanwhile();
        return true;
      },
    };
    const litterbox = fixture.open({ approver });
    const other = fixture.open();
    const sandbox = await litterbox.create({ name: 'risky' });
    await sandbox.files.write('Makefile', 'all:\n');
    meanwhile = async () => void (await (await other.open('risky')).files.write('Makefile', 'evil:\n'));
    expect(await refusal(litterbox.merge('risky'))).toSatisfyError(coded('CHANGED_SINCE_SHOWN'));
    expect(existsSync(join(fixture.repository, 'Makefile'))).toBe(false);
    meanwhile = async () => {
      await other.list();
      await (await other.open('risky')).run('true');
    };
    expect((await litterbox.merge('risky')).outcome).toBe('committed');
    expect(readFileSync(join(fixture.repository, 'Makefile'), 'utf8')).toBe('evil:\n');
  });

  it('a person may open a shell while a call runs, and is told so; it wants a message where every change does', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'seen', requireMessage: true });
    expect(await refusal(litterbox.attach({ sandbox: 'seen' }))).toSatisfyError(coded('MESSAGE_EMPTY'));
    expect(await refusal(sandbox.run('true'))).toSatisfyError(coded('MESSAGE_EMPTY'));
    expect(await refusal(sandbox.files.write('x', 'y'))).toSatisfyError(coded('MESSAGE_EMPTY'));
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const running = sandbox.run('echo go; mkfifo /tmp/gate; read -r _ </tmp/gate', {
      message: 'Waits',
      onOutput: () => begun(),
    });
    const other = fixture.open();
    await hasBegun;
    await using shell = await other.attach({
      sandbox: 'seen',
      message: 'A look',
      command: ['sh', '-c', 'echo x >by-hand; until [ -p /tmp/gate ]; do :; done; echo >/tmp/gate'],
    });
    expect(shell.notice).toMatch(/^seen is busy: "echo go.*is still running/);
    for await (const _ of shell.process);
    await running;
    await shell.finish(await shell.process.exit);
    expect(await sandbox.diff()).toContain('by-hand'); // whichever of the two was recorded first
    await using alone = await other.attach({ sandbox: 'seen', message: 'Another', command: ['true'] });
    expect(alone.notice).toBeUndefined();
    for await (const _ of alone.process);
    await alone.finish(await alone.process.exit);
  });

  it('a timeout keeps what was printed and records what was written', async () => {
    await using fixture = new LibraryFixture();
    const sandbox = await fixture.open().create({ name: 'slow' });
    const ran = await sandbox.run('echo partial; echo x >written; sleep 1000', { timeoutMs: 400 });
    expect({
      timedOut: ran.timedOut,
      stdout: ran.stdout,
      exitCode: ran.exitCode,
      changedFiles: ran.recorded.changedFiles,
    }).toEqual({ timedOut: true, stdout: 'partial\n', exitCode: 137, changedFiles: 1 });
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = sandbox.run('echo y >aborted; echo go; sleep 1000', {
      signal: controller.signal,
      onOutput: () => controller.abort(reason),
    });
    expect(await refusal(running)).toBe(reason);
    expect((await sandbox.log())[0]?.number).toBe(2);
  });

  it('an exported tree is plain files', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'tree' });
    await sandbox.files.write('src/new.txt', 'new\n');
    await sandbox.milestone('one');
    const { directory } = await litterbox.worktree('tree');
    expect(readFileSync(join(directory, 'src/new.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(join(directory, '.git'))).toBe(false);
    expect(fixture.git('status', '--porcelain')).toBe('');
  });
});

expect.extend({
  toSatisfyError(received: unknown, holds: (error: unknown) => boolean) {
    return {
      pass: holds(received),
      message: () =>
        `got ${received instanceof Error ? `${String((received as { code?: string }).code)}: ${received.message}` : String(received)}`,
    };
  },
});
declare module 'expect' {
  interface Matchers<R> {
    toSatisfyError(holds: (error: unknown) => boolean): R;
  }
}
