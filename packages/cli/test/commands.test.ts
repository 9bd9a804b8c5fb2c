import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { quoted } from '@litterbox/core';
import { PROVIDER, CliFixture, NODE } from './cli-fixture.ts';

/** The most memory that a process ever had; nothing once it has ended. */
function highestKib(pid: number | undefined): number {
  const path = `/proc/${pid}/status`;
  const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}

describe('the command line', () => {
  it('forks a sandbox several times, and tells of the fork that could not be made', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a']);
    await fixture.run(['run', 'a', 'echo work >work']);
    expect(await fixture.run(['fork', 'a', '-n', '2'])).toMatchObject({ code: 0, stdout: 'a-2\na-3\n' });
    expect((await fixture.run(['run', 'a-3', 'cat work'])).stdout).toBe('work\n');
    const some = await fixture.run(['--json', 'fork', 'a', '--name', 'a', '--number', '2']);
    expect({ code: some.code, error: JSON.parse(some.stderr.trim().split('\n').at(-1) ?? '').error.code }).toEqual({
      code: 3,
      error: 'SANDBOX_EXISTS',
    });
    expect(JSON.parse(some.stdout)).toMatchObject([
      { name: 'a-1', forkedFrom: 'a' },
      { error: { code: 'SANDBOX_EXISTS', message: expect.stringContaining('a-2') } },
    ]);
    const many = await fixture.run(['fork', 'a', '-n', '17']);
    expect(many).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--number "17" is not a whole number, 1..16'),
    });
    await fixture.run(['delete', 'a', 'a-1', 'a-2', 'a-3', '--force']);
  });

  it('finds sandboxes by the labels that they were made with', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a', '--label', 'task=login', '--label', 'team=web']);
    await fixture.run(['create', 'b', '--label', 'task=logout']);
    const { stdout } = await fixture.run(['list', '--label', 'task=login']);
    expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('\ttask=login team=web\t')]);
    expect(await fixture.run(['list', '--label', 'task'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--label "task" is not NAME=value'),
    });
    expect(await fixture.run(['create', 'c', '--ephemeral'])).toMatchObject({ code: 2 }); // it would go at once
    await fixture.run(['delete', 'a', 'b', '--force']);
  });

  it('FC-325: shows what a call printed that has ended, and says of one that was killed that it is lost', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a']);
    await fixture.run(['run', 'a', "echo '1 failed'; echo $((40 + 2)) >&2; exit 1"]);
    const entries = async () =>
      JSON.parse((await fixture.run(['log', 'a', '--json'])).stdout) as readonly { call: number; outcome: string }[];
    const [call] = await entries();
    expect((await fixture.run(['log', 'a'])).stdout).toMatch(new RegExp(`no change, .*, exit 1, call ${call?.call}\n`));
    expect((await fixture.run(['log', 'a', `${call?.call}`])).stdout).toMatch(
      /^call \d+ {2}echo .*\nexit 1, .*\n\n {2}1 failed\n\nPrinted to stderr:\n {2}42\n$/,
    );
    expect(JSON.parse((await fixture.run(['--json', 'log', 'a', `${call?.call}`])).stdout)).toMatchObject({
      exitCode: 1,
      printed: { stdout: { text: '1 failed\n' }, stderr: { text: '42\n' } },
    });
    const kill = async (command: string) => {
      const child = fixture.start(['run', 'a', command]);
      await once(child.stdout ?? child, 'data');
      child.kill('SIGKILL');
      await once(child, 'close');
    };
    await kill('echo begun; sleep 1000');
    const [killed] = await entries();
    expect(killed).toMatchObject({ outcome: 'unknown' });
    await kill('echo left >left; echo begun; sleep 1000');
    await fixture.run(['run', 'a', 'true']);
    const [, recovered, before] = await entries(); // FC-314: the call and what it left are one
    expect(recovered).toMatchObject({
      type: 'revision',
      subject: 'run: echo left >left; echo begun; sleep 1000 (interrupted)',
      command: 'echo left >left; echo begun; sleep 1000',
    });
    expect(before).toEqual(killed);
    expect((await fixture.run(['log', 'a', `${killed?.call}`])).stdout).toContain('what it had printed is lost');
    expect((await fixture.run(['log', 'a', `${call?.call}`])).stdout).toContain('  1 failed\n');
    expect(await fixture.run(['log', 'a', '999999'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no call'),
    });
    const kept = () =>
      execFileSync('find', [join(fixture.stateDirectory, 'repos'), '-path', '*/printed/*', '-type', 'f'], {
        encoding: 'utf8',
      });
    expect(kept()).not.toBe('');
    await fixture.run(['delete', 'a', '--force']);
    expect(kept()).toBe('');
  });

  it('leads changed lines to the call that wrote them, and says what was tested before a merge', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a']);
    await fixture.run(['run', 'a', 'echo b >>a.txt; exit 3']);
    expect(await fixture.run(['blame', 'a', 'a.txt'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^revision 1, call \d+, exit 3: echo b >>a\.txt; exit 3\n {2}2 \| b\n$/),
    });
    expect(JSON.parse((await fixture.run(['blame', 'a', 'a.txt', '--json'])).stdout)).toMatchObject({
      changes: [{ firstLine: 2, lines: ['b'], revision: 1, exitCode: 3 }],
    });
    const untested = await fixture.run(['merge', 'a', '--dry-run']);
    expect(untested.stderr).toContain('Tests: no command of any call looks like one.');
    await fixture.run(['run', 'a', 'echo true >test.sh']);
    await fixture.run(['run', 'a', '--', 'sh', './test.sh']);
    const tested = /Tests: call \d+, exit 0, nothing changed since, just now: `sh \.\/test\.sh`\n/;
    expect((await fixture.run(['merge', 'a', '--dry-run'])).stderr).toMatch(tested);
    const { stderr: below } = await fixture.run(['log', 'a']);
    expect(below).toMatch(tested);
    expect(below).toMatch(/^Together: \d+ calls took \d+(?:\.\d)? s\.$/m);
    await fixture.run(['run', 'a', 'echo c >>a.txt']);
    expect(JSON.parse((await fixture.run(['merge', 'a', '--dry-run', '--json'])).stdout)).toMatchObject({
      proof: { tests: [{ command: 'sh ./test.sh', exitCode: 0, changesSince: 1 }] },
    });
  });

  it('FC-328: says which sandboxes conflict before anything is merged', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a']);
    await fixture.run(['run', 'a', 'echo one >a.txt']);
    expect((await fixture.run(['forecast'])).stderr).toBe('One sandbox: no conflicts, by what is recorded.\n');
    await fixture.run(['create', 'b']);
    await fixture.run(['run', 'b', 'echo two >a.txt; echo b >b.txt']);
    const before = fixture.digest();
    expect(await fixture.run(['forecast'])).toMatchObject({ code: 0, stdout: 'a conflicts with b: a.txt\n' });
    expect(JSON.parse((await fixture.run(['forecast', '--json'])).stdout)).toEqual({
      conflicts: [{ sandbox: 'a', other: 'b', paths: ['a.txt'] }],
      compared: ['a', 'b'],
      leftOut: 0,
      untried: 0,
    });
    expect((await fixture.run(['list'])).stdout).toMatch(/^b\t.*\ta\na\t.*\tb\n$/);
    expect(fixture.digest()).toBe(before);
    await fixture.run(['merge', 'a', '--tip', '1']);
    expect((await fixture.run(['forecast'])).stdout).toBe('b conflicts with your branch: a.txt\n');
    expect((await fixture.run(['list'])).stdout).toMatch(/^b\t.*\tbranch\n$/);
  });

  it('begins with the working tree, tells what looks like a secret, and brings what is named', async () => {
    await using fixture = new CliFixture();
    fixture.file('.git/info/exclude', 'built/\n');
    fixture.file('new.txt', 'new\n');
    fixture.file('.env', 'TOKEN=1\n');
    fixture.file('built/it', 'built\n');
    const created = await fixture.run(['create', 'a', '--from', 'worktree', '--include', 'built']);
    expect(created).toMatchObject({ code: 0, stdout: 'a\n' });
    expect(created.stderr).toContain(
      'One file looks like a secret, so the sandbox does not have your copy: .env (variables that often are secrets) (to include it: --include .env)',
    );
    expect((await fixture.run(['run', 'a', 'cat new.txt built/it; ls -a; test ! -e .env'])).stdout).not.toContain(
      '.env',
    );
    const json = await fixture.run(['--json', 'create', 'b', '--from', 'worktree', '--include', 'built/,.env']);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: 'b', include: ['.env', 'built'], warnings: [] });
    expect(JSON.parse(json.stdout)).not.toHaveProperty('heldBack');
    expect((await fixture.run(['run', 'b', 'cat .env built/it; echo more >>built/it'])).stdout).toBe(
      'TOKEN=1\nbuilt\n',
    );
    expect((await fixture.run(['diff', 'b'])).stdout).toBe('');
    expect(await fixture.run(['create', 'c', '--include', 'a.txt'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('the base has files there'),
    });
    expect(await fixture.run(['create', 'c', '--include', '../x'])).toMatchObject({ code: 2 });
    await fixture.run(['delete', 'a', 'b', '--force']);
  });

  it('makes up a name where none is given, and lists what changed, newest first, in 80 columns', async () => {
    await using fixture = new CliFixture();
    const { code, stdout } = await fixture.run(['create']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^[a-z]+-[a-z]+\n$/) });
    for (const name of ['first', 'a-name-that-is-as-long-as-names-may-be-4']) {
      await fixture.run(['create', name]);
      await fixture.run(['run', name, 'for i in $(seq 20); do seq 1000 >$i; done']);
    }
    await fixture.run(['run', 'first', 'true']);
    const listed = async (args: readonly string[]) => {
      const child = fixture.startInTerminal(['--no-color', 'list', ...args]);
      let shown = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (shown += text));
      await once(child, 'close');
      return shown.trimEnd().split('\r\n');
    };
    const lines = await listed([]);
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'NAME',
      'first',
      'a-name-that-is-as-long-as-names-may-be-4',
      stdout.trim(),
    ]);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines[0]).not.toContain('PROVIDER');
    expect(lines[1]).toMatch(/\+20000 -0, 20 files .* \d+[sm] person$/);
    expect(
      (await listed(['--changed']))
        .map((line) => line.split(' ')[0])
        .slice(1)
        .toSorted(),
    ).toEqual(['a-name-that-is-as-long-as-names-may-be-4', 'first']);
  });

  it('FC-43: says of dependencies only what is true: nothing when they came along', async () => {
    await using fixture = new CliFixture();
    fixture.file('.git/info/exclude', 'node_modules/\n');
    for (const name of ['package.json', 'package-lock.json']) fixture.file(name, '{}\n');
    fixture.file('node_modules/dep/index.js', '1\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'packages');
    const without = await fixture.run(['create', 'without']);
    expect(without.stderr).toContain('Git ignores node_modules, so it is not in the sandbox.');
    if (PROVIDER === 'overlayfs')
      expect(without.stderr).toContain(
        '  litterbox delete without && litterbox create without --include node_modules\n',
      );
    const along = await fixture.run(['create', 'along', '--include', 'node_modules']);
    expect(along.stderr).not.toMatch(/ignores|litterbox|package-lock/);
    expect((await fixture.run(['run', 'along', 'cat node_modules/dep/index.js'])).stdout).toBe('1\n');
  });

  it('races forks, shows how the judge ranks them, and removes the others after a yes', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a']);
    const work = ['echo $LITTERBOX_RACER >number'];
    const raced = await fixture.run(['race', 'a', '-n', '2', '--name', 'try', '--judge', 'cat number', ...work]);
    expect(raced).toMatchObject({ code: 0, stderr: expect.stringContaining('litterbox delete try-1 --force') });
    expect(raced.stdout.split('\n').map((line) => line.split('\t').slice(0, 3))).toEqual([
      ['try-2', 'passed', '2'],
      ['try-1', 'passed', '1'],
      [''],
    ]);
    const again = await fixture.run([
      '--json',
      'race',
      'a',
      '-n',
      '2',
      '--judge',
      'test $(cat number) = 2',
      '--yes',
      ...work,
    ]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      winner: 'a-2',
      racers: [
        { name: 'a-2', number: 2, passed: true, changedFiles: 1, exitCode: 0, judge: { exitCode: 0 } },
        { name: 'a-1', number: 1, passed: false, judge: { exitCode: 1 } },
      ],
    });
    const judge = 'echo seen; echo wrong >&2; false';
    expect(await fixture.run(['race', 'a', '-n', '2', '--judge', judge, '--yes', ...work])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /a-race-1: the judge printed\n {2}\| seen\n {2}\| wrong\nNo fork passed\. .*litterbox run a-race-1 '/,
      ),
    });
    const names = (await fixture.run(['list'])).stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
    expect(names.toSorted()).toEqual(['', 'a', 'a-2', 'a-race-1', 'a-race-2', 'try-1', 'try-2']);
    await fixture.run(['delete', ...names.filter((name) => name !== ''), '--force']);
  });

  it('keeps a snapshot, goes back to it, and gives it up', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'a']);
    expect((await fixture.run(['snapshot', 'list', 'a'])).stderr).toBe(
      'No snapshots. Take one: litterbox snapshot create a.\n',
    );
    await fixture.run(['run', 'a', 'echo old >~/home; echo one >file']);
    const taken = await fixture.run(['snapshot', 'create', 'a']);
    expect(taken).toMatchObject({ code: 0, stdout: 's1\n', stderr: expect.stringContaining('at revision 1') });
    await fixture.run(['run', 'a', 'echo new >~/home; echo two >file']);
    expect((await fixture.run(['snapshot', 'list', 'a'])).stdout).toMatch(
      /^s1\t1\tjust now\t(?:at most )?[\d.]+ [KM]iB\n$/,
    );
    const restored = await fixture.run(['snapshot', 'restore', 'a', 'S1']);
    expect(restored.stderr).toContain('Restored workspace and home of a from the snapshot s1, as revision 3.\n');
    expect((await fixture.run(['run', 'a', 'cat ~/home file'])).stdout).toBe('old\none\n');
    const { stdout } = await fixture.run(['--json', 'snapshot', 'list', 'a']);
    expect(JSON.parse(stdout)).toEqual([
      {
        id: expect.any(String),
        name: expect.any(String),
        takenAtMs: expect.any(Number),
        label: 's1',
        revision: 1,
        commit: expect.stringMatching(/^[0-9a-f]{40}$/),
        diskBytes: expect.any(Number),
        ownBytes: expect.any(Number),
      },
    ]);
    expect((await fixture.run(['snapshot', 'remove', 'a', 's1'])).code).toBe(0);
    expect((await fixture.run(['undo', 'a'])).stderr).toContain(
      'a has the files of revision 2 again, as revision 4.\n',
    );
    const gone = await fixture.run(['snapshot', 'restore', 'a', 's1']);
    expect(gone).toMatchObject({ code: 3, stderr: expect.stringContaining('litterbox snapshot create a') });
    const incomplete = await fixture.run(['snapshot', 'restore', 'a']);
    expect(incomplete).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('litterbox snapshot restore --help shows options'),
    });
    await fixture.run(['delete', 'a', '--force']);
  });

  it('tells the whole story: create, run, log, diff, milestone, merge', async () => {
    await using fixture = new CliFixture();
    const created = await fixture.run(['create', 'Fix Login']);
    expect({ code: created.code, stdout: created.stdout }).toEqual({ code: 0, stdout: 'fix-login\n' });
    expect(created.stderr).toMatch(/^Created fix-login at [0-9a-f]{10} in \d+\.\d s\.\n/m);
    const ran = await fixture.run([
      'run',
      'fix-login',
      '--',
      'sh',
      '-c',
      'echo out; echo err >&2; echo b >b.txt; exit 3',
    ]);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 3, stdout: 'out\n' });
    expect(ran.stderr).toBe('err\nrevision 1: one file\n');
    expect((await fixture.run(['run', 'fix-login', 'echo $((1 + 1)); pwd'])).stdout).toBe(
      `2\n${PROVIDER === 'overlayfs' ? fixture.repository : '/src'}\n`,
    );
    expect(
      (await fixture.run(['run', 'fix-login', '--cwd', '/tmp', '--env', 'A=it is', '--', 'sh', '-c', 'pwd; echo "$A"']))
        .stdout,
    ).toBe('/tmp\nit is\n');
    expect((await fixture.run(['list'])).stdout).toBe(
      `fix-login\tready\t${PROVIDER}\t+1 -0, one file\t1\tnone\tjust now\n`,
    );
    expect((await fixture.run(['log', 'fix-login'])).stdout).toMatch(
      /^( +· {2}.* {2}no change, just now, call \d+\n){2} +1 {2}run: sh -c echo out; .*\n$/,
    );
    expect((await fixture.run(['log', 'fix-login', '--revisions-only'])).stdout).toMatch(
      /^ +1 {2}run: sh -c echo out; .*\n$/,
    );
    const patch = (await fixture.run(['diff', 'fix-login'])).stdout;
    expect(patch).toContain('+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n');
    execFileSync('git', ['apply', '--check'], { cwd: fixture.repository, input: patch, env: fixture.environment });
    expect((await fixture.run(['diff', 'fix-login', '--name-only'])).stdout).toBe('b.txt\n');
    expect((await fixture.run(['milestone', 'fix-login', 'Login works'])).stdout).toMatch(
      /^litterbox\/fix-login is at /,
    );
    const tree = (await fixture.run(['worktree', 'fix-login'])).stdout.trim();
    expect(readFileSync(join(tree, 'b.txt'), 'utf8')).toBe('b\n');
    const dry = await fixture.run(['merge', 'fix-login', '--dry-run']);
    expect({ code: dry.code, exists: existsSync(join(fixture.repository, 'b.txt')) }).toEqual({
      code: 0,
      exists: false,
    });
    const merged = await fixture.run(['merge', 'fix-login']);
    expect({ code: merged.code, stderrIncludes: merged.stderr.includes('is deleted') }).toEqual({
      code: 0,
      stderrIncludes: true,
    });
    expect(fixture.git('log', '--format=%s')).toBe('Login works\none');
    expect((await fixture.run(['list'])).stdout).toBe('');
    expect((await fixture.run(['audit', '--verify'])).code).toBe(0);
    expect((await fixture.run(['audit', '-n', '2'])).stdout.split('\n')).toHaveLength(3);
  });

  it('passes standard input on, and bytes as they are', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'bytes']);
    expect((await fixture.run(['run', 'bytes', '--', 'tr', 'a-z', 'A-Z'], 'shout\n')).stdout).toBe('SHOUT\n');
    expect((await fixture.run(['run', 'bytes', '--', 'cat'])).stdout).toBe('');
    const [program, ...rest] = NODE;
    const bytes = execFileSync(program, [...rest, 'run', 'bytes', "printf '\\000\\377'"], {
      cwd: fixture.repository,
      env: fixture.environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect([...bytes]).toEqual([0, 255]);
  });

  it('sends Ctrl-C to the program at once and records what it did; a second one ends it', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'keys']);
    const typed = async (script: string, answers: readonly string[]) => {
      const child = fixture.startInTerminal(['run', 'keys', '--', 'sh', '-c', script]);
      let said = '';
      let waited = answers;
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const [next] = waited;
        if (next === undefined || !said.includes(next)) return;
        waited = waited.slice(1);
        child.stdin?.write('\u0003');
      });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, said };
    };
    const trapped = await typed("trap 'echo got INT; exit 9' INT; echo x >x; echo up; sleep 60", ['up\r\n']);
    expect(trapped).toEqual({ code: 9, said: expect.stringMatching(/got INT\r\n.*revision 1: one file/s) });
    expect((await typed('echo up; sleep 60', ['up\r\n'])).code).toBe(130);
    const deaf = "trap 'echo got INT' INT; echo up; while :; do sleep 1; done";
    expect(await typed(deaf, ['up\r\n', 'got INT\r\n'])).toEqual({
      code: 130,
      said: expect.stringContaining('got INT'),
    });
  });

  it('FC-28: output and errors keep their order where both go to one place', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'order']);
    const script = 'i=0; while [ $i -lt 25 ]; do echo $i; echo $i >&2; i=$((i+1)); done';
    const wanted = Array.from({ length: 25 }, (_, index) => `${index}\n${index}\n`).join('');
    for (const input of ['</dev/null', '</etc/hostname']) {
      for (const command of [[script], ['--', 'sh', '-c', script]]) {
        const line = [...NODE, '--quiet', 'run', 'order', ...command].map(quoted).join(' ');
        const both = spawnSync('sh', ['-c', `${line} ${input} 2>&1`], {
          cwd: fixture.repository,
          env: fixture.environment,
          encoding: 'utf8',
        });
        expect({ input, command, code: both.status, stdout: both.stdout }).toEqual({
          input,
          command,
          code: 0,
          stdout: wanted,
        });
      }
    }
    const apart = await fixture.run(['--quiet', 'run', 'order', 'echo out; echo err >&2']);
    expect(apart).toEqual({ code: 0, stdout: 'out\n', stderr: 'err\n' });
    expect((await fixture.run(['log', 'order', '-n', '1'])).stdout).not.toContain('2>&1');
  });

  it('FC-31: a slow reader holds the program back, and the command line does not fill up', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'slow']);
    for (const stdin of ['ignore', 'pipe'] as const) {
      const [program, ...rest] = NODE;
      const command = 'i=0; while [ $i -lt 300 ]; do head -c 1048576 /dev/zero; i=$((i+1)); done';
      const child = spawn(program, [...rest, '--quiet', 'run', 'slow', command], {
        cwd: fixture.repository,
        env: fixture.environment,
        stdio: [stdin, 'pipe', 'ignore'],
      });
      child.stdin?.end();
      await new Promise((resolve) => child.stdout?.once('readable', resolve)); // it prints, and nobody reads
      let read = 0;
      let highest = 0;
      for await (const bytes of child.stdout ?? []) {
        read += (bytes as Buffer).length;
        highest = Math.max(highest, highestKib(child.pid));
        if (read < 2 ** 21) await new Promise((resolve) => setTimeout(resolve, 200)); // slow at first
      }
      expect({ stdin, read, isSmall: highest < 300_000 }).toEqual({ stdin, read: 300 * 2 ** 20, isSmall: true });
    }
  });

  it('FC-03: one word is for bash where there is one, whatever stands at the input, and explain tells', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'words']);
    const hasBash = (await fixture.run(['run', 'words', '--', 'sh', '-c', 'command -v bash'])).code === 0;
    const said = hasBash ? 'a b\n' : '{a,b}\n';
    expect((await fixture.run(['run', 'words', 'echo {a,b}'])).stdout).toBe(said);
    expect((await fixture.run(['run', 'words', 'echo {a,b}; cat'], 'in\n')).stdout).toBe(`${said}in\n`);
    expect((await fixture.run(['explain', 'words'])).stdout).toMatch(
      /^In use now: .* of memory.*\nUsed until now: .* s of processor time$/m,
    );
    expect((await fixture.run(['explain', 'words'])).stdout).toContain(
      `${hasBash ? 'bash' : 'sh'} runs the text of commands`,
    );
  });

  it('gives one JSON document wherever --json stands, and errors as JSON on stderr', async () => {
    await using fixture = new CliFixture();
    const created = JSON.parse((await fixture.run(['create', 'doc', '--json'])).stdout) as Record<string, unknown>;
    expect(Object.keys(created)).toEqual([
      'name',
      'id',
      'provider',
      'host',
      'base',
      'workdir',
      'leftOut',
      'warnings',
      'mechanism',
    ]);
    const ran = JSON.parse((await fixture.run(['--json', 'run', 'doc', 'echo x >x; echo --json'])).stdout) as Record<
      string,
      unknown
    >;
    expect(ran).toMatchObject({ exitCode: 0, stdout: '--json\n', timedOut: false, recorded: { changedFiles: 1 } });
    for (const args of [
      ['list'],
      ['log', 'doc'],
      ['diff', 'doc'],
      ['explain', 'doc'],
      ['explain'],
      ['doctor'],
      ['trust'],
      ['audit'],
      ['merge', 'doc', '--dry-run'],
      ['pause', 'doc'],
      ['resume', 'doc'],
    ]) {
      const { code, stdout } = await fixture.run([...args, '--json']);
      expect({ args: args.join(' '), code, type: typeof JSON.parse(stdout) }).toEqual({
        args: args.join(' '),
        code: 0,
        type: 'object',
      });
    }
    const failed = await fixture.run(['log', 'nobody', '--json']);
    expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 3, stdout: '' });
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'SANDBOX_NOT_FOUND', hint: 'There are: doc.' } });
  });

  const refusals: readonly (readonly [args: readonly string[], code: number, says: string])[] = [
    [[], 2, 'Usage: litterbox'],
    [['delte', 'x'], 2, 'Did you mean delete?'],
    [['list', '--al'], 2, 'Did you mean --all?'],
    [['rm', 'x'], 2, 'Did you mean delete?'],
    [['merge', 'x', '--strategy=ours'], 2, 'litterbox merge NAME -- --strategy=ours'],
    [['exec', 'x'], 2, 'Did you mean run?'],
    [['status'], 2, 'Did you mean list?'],
    [['delete'], 2, "missing required argument 'name'"],
    [['create', '###'], 2, 'has no letter a-z or digit'],
    [['create', 'HEAD'], 2, 'is reserved'],
    [['create', 'x'.repeat(50)], 2, 'at most 40'],
    [['create', 'n', '--memory', 'lots'], 2, 'a size such as 512MiB'],
    [['create', 'n', '--timeout', '1y'], 2, 'a duration such as 30s'],
    [['create', 'n', '--env', '=x'], 2, 'NAME=value'],
    [['create', 'n', '--env', 'LD_PRELOAD=x'], 2, 'reserved'],
    [['create', 'n', '--workdir', '../x'], 2, 'cannot be used'],
    [['create', 'n', '--provider', 'doker'], 2, 'There are: overlayfs, docker, podman'],
    [['create', 'n', '--from', 'a..b'], 2, 'REV_INVALID|single commit|not'],
    [['create', 'n', '--from', 'nope'], 3, 'nope'],
    [['run', 'nobody', 'true'], 3, 'no sandbox'],
    [['log', 'nobody'], 3, 'litterbox create'],
    [['merge', 'nobody'], 3, 'no sandbox'],
    [['shell', 'nobody'], 2, 'needs a terminal'],
    [['pause'], 2, '--all-envs'],
    [['log', 'x', '-n', 'many'], 2, 'whole number'],
  ];
  it('refuses bad input with exit code, message and next step, and changes nothing', async () => {
    await using fixture = new CliFixture();
    const before = fixture.digest();
    for (const [args, code, says] of refusals) {
      const ran = await fixture.run(args);
      expect({ args: args.join(' '), code: ran.code, stderr: ran.stderr }).toEqual({
        args: args.join(' '),
        code,
        stderr: expect.stringMatching(
          new RegExp(says.includes('|') ? says : says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')),
        ),
      });
      expect(ran.stdout).toBe('');
      expect(ran.stderr).not.toMatch(/\n\s+at /);
    }
    expect(fixture.digest()).toBe(before);
    expect((await fixture.run(['list', '--json'])).stdout).toBe('[]\n');
    const outside = spawn(NODE[0], [...NODE.slice(1), 'list'], { cwd: '/', env: fixture.environment, stdio: 'ignore' });
    expect(((await once(outside, 'close')) as [number])[0]).toBe(3);
  });

  it('refuses to lose work, to merge what runs code here, and arguments that git merge must not get', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'risky']);
    await fixture.run([
      'run',
      'risky',
      'mkdir -p .husky && echo x >.husky/post-merge && printf "\\033[31m\\342\\200\\256" >odd',
    ]);
    const deletion = await fixture.run(['delete', 'risky']);
    expect({ code: deletion.code, stderr: deletion.stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('--force'),
    });
    const merge = await fixture.run(['merge', 'risky']);
    expect({ code: merge.code, stderr: merge.stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('--yes-risky'),
    });
    expect(merge.stderr).toContain('Can run code, or hides what it holds:');
    const argument = await fixture.run(['merge', 'risky', '--', '--exec=touch x']);
    expect({ code: argument.code, stderr: argument.stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('--exec'),
    });
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect((await fixture.run(['merge', 'risky', '--yes-risky'])).code).toBe(4); // nobody has seen them
    await fixture.run(['diff', 'risky']);
    expect((await fixture.run(['merge', 'risky', '--yes-risky'])).code).toBe(0);
  });

  it('who merges or deletes a sandbox is told that an agent called it a moment ago', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'one']);
    await fixture.run(['create', 'two']);
    const server = fixture.start(['mcp']);
    let heard = '';
    server.stdout?.setEncoding('utf8').on('data', (text: string) => (heard += text));
    const call = async (id: number, message: object) => {
      server.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...message })}\n`);
      while (!heard.includes(`"id":${id}`) && server.exitCode === null) await pause(20);
    };
    const clientInfo = { name: 'test', version: '1' };
    await call(1, { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    for (const [id, sandbox] of [
      [2, 'one'],
      [3, 'two'],
    ] as const)
      await call(id, {
        method: 'tools/call',
        params: { name: 'write', arguments: { sandbox, path: `${sandbox}.txt`, content: 'x\n' } },
      });
    const said: unknown = expect.stringMatching(/An agent used it \d+ s ago; /);
    expect(await fixture.run(['merge', 'one'])).toMatchObject({ code: 0, stderr: said });
    expect(await fixture.run(['delete', 'two', '--force'])).toMatchObject({ code: 0, stderr: said });
    await call(4, {
      method: 'tools/call',
      params: { name: 'read', arguments: { sandbox: 'one', path: 'a.txt' } },
    });
    expect(heard).toContain('was merged into \\"main\\" on ');
    expect(heard).toContain('(by a person, on the command line)');
    server.stdin?.end();
    await once(server, 'close');
  });

  it('FC-21: run starts in the directory of the workspace that the person is in', async () => {
    await using fixture = new CliFixture();
    fixture.file('packages/app/b', 'b\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'app');
    await fixture.run(['create', 'many']);
    const there = ['--repo', join(fixture.repository, 'packages/app')];
    const ran = await fixture.run([...there, 'run', 'many', 'pwd; cat b']);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/packages\/app\nb\n$/) });
    expect((await fixture.run([...there, 'run', 'many', 'cat b; cat'], 'piped\n')).stdout).toBe('b\npiped\n');
    expect((await fixture.run([...there, 'run', 'many', '--cwd', '.', 'ls'])).stdout).toContain('packages');
    fixture.file('new/c', 'c\n');
    const gone = await fixture.run(['--repo', join(fixture.repository, 'new'), 'run', 'many', 'ls']);
    expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining('packages') });
    expect(gone.stderr).toContain('The sandbox has no new: starting at the top of the workspace.');
  });

  it('FC-23: who came by a link is told where the files are inside', async () => {
    await using fixture = new CliFixture();
    const link = join(fixture.directory, 'link');
    symlinkSync(fixture.repository, link);
    const byName = await fixture.run(['--repo', link, 'create', 'named']);
    expect(byName.stderr).toContain(`The current directory is a link. Inside, the files are at `);
    const byShell = await fixture.run(['create', 'shell'], undefined, { PWD: link });
    expect(byShell.stderr).toContain('The current directory is a link.');
    expect((await fixture.run(['create', 'plain'])).stderr).not.toContain('link');
  });

  it('a sandbox that is paused says so at once, also while a command in it stands still', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'still']);
    const working = fixture.run(['run', 'still', 'touch /tmp/begun; until [ -e /tmp/end ]; do sleep 0.1; done']);
    // A command with input waits for nobody.
    await fixture.run(['run', 'still', 'until [ -e /tmp/begun ]; do sleep 0.1; done'], 'input');
    await fixture.run(['pause', 'still']);
    expect(await fixture.run(['run', 'still', 'true'])).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/The sandbox still is paused\.\n.*litterbox resume still/),
    });
    await fixture.run(['resume', 'still']);
    await fixture.run(['run', 'still', 'touch /tmp/end'], 'input');
    expect((await working).code).toBe(0);
  });

  it('what ended a command or was missed by it is told with the way out', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'told', '--memory', '128MiB', '--processes', '64']);
    const late = await fixture.run(['run', 'told', '--timeout', '1s', 'sleep 60']);
    expect(late.stderr).toMatch(/stopped after \d+ s, .*--timeout.*limits\.timeout/);
    expect(late.code).toBe(124);
    const git = await fixture.run(['run', 'told', 'echo "fatal: not a git repository" >&2; exit 128']);
    expect(git.stderr).toMatch(/^hint: .*workspace\.git/m);
    const greedy = 'head -c 268435456 /dev/zero | tail -n 1 >/dev/null 2>&1; exit 0';
    const many = "echo 'sh $0 & wait' >/tmp/many; sh /tmp/many 2>/dev/null; exit 0";
    for (const input of [undefined, 'input']) {
      const killed = await fixture.run(['run', 'told', greedy], input);
      expect(killed).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/hint: out of memory: the kernel killed a process, .*128 MiB/),
      });
      const refused = await fixture.run(['run', 'told', many], input);
      expect(refused).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/could not start: .* limit of 64 .*limits\.processes/),
      });
    }
  });

  it('FC-46: a rule of the sandbox that a command runs into is told to a person where it does', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'ruled']);
    for (const input of [undefined, 'input']) {
      const hints = async (command: string) =>
        (await fixture.run(['run', 'ruled', command], input)).stderr
          .split('\n')
          .filter((line) => line.startsWith('hint:'));
      expect(await hints('sudo apt-get install -y cowsay')).toEqual([
        expect.stringMatching(/^hint: no program is root here, .* home of the sandbox \(create --setup\)/),
      ]);
      expect(await hints('touch /usr/x')).toEqual([expect.stringMatching(/^hint: the system is read-only; /)]);
      expect(await hints('git clone https://registry.example.org/x')).toEqual([
        'hint: this sandbox has no network. To create one that reaches a host: litterbox create NAME --network run --allow registry.example.org',
      ]);
      expect(await hints('echo "connect: connection refused: 127.0.0.1:99"; exit 1')).toEqual([]);
      expect(await hints('echo "Error: EMFILE: too many open files" >&2; exit 1')).toEqual([
        expect.stringMatching(/^hint: .*open files.*limits\.open-files/),
      ]);
    }
  });

  it('diff --stat ends with its sums', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'sums']);
    await fixture.run(['run', 'sums', 'printf "1\\n2\\n" >new; printf "\\0" >binary; echo 1 >other']);
    expect((await fixture.run(['diff', 'sums', '--stat'])).stdout).toMatch(/\n {2}3 files, \+3 -0, 1 binary\n$/);
    expect((await fixture.run(['diff', 'sums', '--name-only'])).stdout).toBe('binary\nnew\nother\n');
  });

  it('whoever leaves the pager early ends diff, log and audit without a word', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'long']);
    await fixture.run([
      'run',
      'long',
      'i=0; while [ $i -lt 200000 ]; do echo "line $i of a long file"; i=$((i+1)); done >long',
    ]);
    const paged = async (args: readonly string[], pager: string) => {
      const child = fixture.startInTerminal(args, { PAGER: pager });
      let shown = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        if (shown === '') child.stdin?.write('q');
        shown += text;
      });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, isQuiet: !/error|EPIPE/.test(shown), hasText: shown.length > 100 };
    };
    for (const pager of ['less -+F', 'head -n 5'])
      for (const args of [['diff', 'long'], ['log', 'long', '-p'], ['diff', 'long', '--stat'], ['audit']])
        expect({ pager, args, ...(await paged(args, pager)) }).toEqual({
          pager,
          args,
          code: 0,
          isQuiet: true,
          hasText: true,
        });
  });

  it('says on a terminal that there is nothing to show, and prints nothing elsewhere', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'idle']);
    for (const args of [
      ['diff', 'idle'],
      ['diff', 'idle', '--stat'],
      ['diff', 'idle', '--name-only'],
    ]) {
      expect(await fixture.run(args)).toEqual({ code: 0, stdout: '', stderr: '' });
      const child = fixture.startInTerminal(args);
      const shown: string[] = [];
      child.stdout?.setEncoding('utf8').on('data', (text: string) => shown.push(text));
      await once(child, 'close');
      expect({ args, shown: shown.join('') }).toEqual({ args, shown: 'No changes.\r\n' });
    }
  });

  it('FC-27: a diff into a file is a patch that git apply takes, binary files too', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'binary']);
    await fixture.run(['run', 'binary', 'printf "\\0\\1\\377picture" >new.png']);
    const { stdout } = await fixture.run(['diff', 'binary']);
    expect(stdout).toContain('GIT binary patch');
    fixture.file('../patch', stdout);
    fixture.git('apply', '--check', '../patch');
    fixture.git('apply', '../patch');
    expect(readFileSync(join(fixture.repository, 'new.png'))).toEqual(Buffer.from('\0\x01\xffpicture', 'latin1'));
  });

  it('FC-40: a message that begins with a number sign is the message, on the branch and after the merge', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'numbered']);
    const ran = await fixture.run(['run', 'numbered', '-m', '#12 First step', 'echo b >b']);
    expect({ code: ran.code, log: (await fixture.run(['log', 'numbered'])).stdout }).toEqual({
      code: 0,
      log: expect.stringContaining('#12 First step'),
    });
    const message = '#42 Add b\n\n# not a comment';
    expect((await fixture.run(['milestone', 'numbered', message])).code).toBe(0);
    expect(
      fixture.git('log', '-1', '--format=%B', 'litterbox/numbered').trim().split('\n\nLitterbox-Revision: '),
    ).toEqual([message, expect.stringMatching(/^1 /)]);
    fixture.file('c', 'c\n');
    fixture.git('add', 'c');
    fixture.git('commit', '-qm', 'meanwhile');
    expect((await fixture.run(['merge', 'numbered', '-m', '#43 Take b'])).code).toBe(0);
    expect(fixture.git('log', '--no-merges', '--format=%B', 'HEAD^1..HEAD').trim()).toMatch(
      /^#42 Add b\n\n# not a comment/,
    );
    expect(fixture.git('log', '-1', '--format=%s').trim()).toBe('#43 Take b');
  });

  it('worktree says how much of the work no milestone offers yet', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'seen']);
    expect(await fixture.run(['worktree', 'seen'])).toMatchObject({ code: 0, stderr: '' });
    await fixture.run(['run', 'seen', 'echo one >one']);
    const early = await fixture.run(['worktree', 'seen']);
    expect(early).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^warning: No milestone yet, so .*began with\. .*litterbox milestone seen 'MESSAGE'/,
      ),
    });
    expect(existsSync(join(early.stdout.trim(), 'one'))).toBe(false);
    await fixture.run(['milestone', 'seen', 'One']);
    expect((await fixture.run(['worktree', 'seen'])).stderr).toBe('');
    await fixture.run(['run', 'seen', 'echo two >two']);
    expect((await fixture.run(['worktree', 'seen'])).stderr).toContain('One revision came after the last milestone');
  });

  it('FC-317: a repository that was moved has its sandboxes, and no word of the old place', async () => {
    await using fixture = new CliFixture();
    expect((await fixture.run(['create', 'one'])).code).toBe(0);
    const there = `${fixture.repository}-moved`;
    renameSync(fixture.repository, there);
    const at = (...args: readonly string[]) => fixture.run(args, undefined, {}, fixture.directory);
    expect(await at('-C', there, 'list')).toMatchObject({ stdout: expect.stringContaining('one'), stderr: '' });
    expect((await at('-C', there, 'delete', 'one')).code).toBe(0);
    renameSync(there, fixture.repository);
  });

  it('FC-240: a sandbox whose repository was deleted or replaced is listed as that, and deleted by its place', async () => {
    await using fixture = new CliFixture();
    for (const name of ['one', 'two']) expect((await fixture.run(['create', name])).code).toBe(0);
    const { repository, directory } = fixture;
    const there = `${repository}-moved`;
    renameSync(repository, there);
    mkdirSync(join(directory, 'other'));
    const at = (...args: readonly string[]) => fixture.run(args, undefined, {}, directory);
    execFileSync('git', ['init', '-q', 'other'], { cwd: directory });

    const { stdout, stderr } = await at('-C', 'other', 'list', '--all');
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stderr).toBe(
      `${repository} is not there any more. If you moved it, its sandboxes are listed in the new place. To give one up: litterbox -C ${repository} delete NAME --force.\n`,
    );
    expect(await at('-C', repository, 'delete', 'one')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`--force`),
    });
    expect((await at('-C', repository, 'delete', 'none', '--force')).code).not.toBe(0);
    expect(await at('-C', repository, 'delete', 'one', '--force')).toMatchObject({ code: 0 });
    // Another repository in its place does not have it, and the old one is not taken for that.
    mkdirSync(repository);
    execFileSync('git', ['init', '-q', repository]);
    expect((await at('-C', repository, 'list')).stdout).toBe('');
    expect((await at('-C', repository, 'delete', 'two')).code).toBe(4);
    expect((await at('-C', repository, 'list', '--all')).stdout).toContain('two');
    expect(await at('-C', repository, 'delete', 'two', '--force')).toMatchObject({ code: 0 });
    expect((await at('-C', repository, 'list', '--all')).stdout).toBe('');
    expect(readdirSync(join(fixture.stateDirectory, PROVIDER, 'sandboxes'))).toEqual([]);
    // What was moved, and is opened where it is, begins anew: nothing of it is left.
    expect((await at('-C', there, 'list', '--json')).stdout).toBe('[]\n');
  });

  it('FC-39: a merge names the hooks of the person that do not run, and the way with them', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'hooked']);
    await fixture.run(['run', 'hooked', 'echo b >b']);
    fixture.file('.git/hooks/commit-msg', '#!/bin/sh\necho Change-Id: I39 >>"$1"\n');
    chmodSync(join(fixture.repository, '.git/hooks/commit-msg'), 0o755);
    const line = 'Your hooks do not run (commit-msg); to have them run: litterbox apply hooked, then git commit.';
    expect((await fixture.run(['merge', 'hooked', '--dry-run'])).stderr).toContain(line);
    expect((await fixture.run(['apply', 'hooked'])).stderr).not.toContain('hooks');
    fixture.git('commit', '-qm', 'With a hook');
    expect(fixture.git('log', '-1', '--format=%B')).toContain('Change-Id: I39');
    expect(await fixture.run(['merge', 'hooked'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Nothing to do'),
    });
  });

  it('merge --autostash says so when edits that it puts back conflict, and keeps them', async () => {
    await using fixture = new CliFixture();
    fixture.file('same.txt', 'base\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'same');
    await fixture.run(['create', 'same']);
    await fixture.run(['run', 'same', 'echo theirs >same.txt']);
    fixture.file('same.txt', 'mine\n');
    const merge = await fixture.run(['merge', 'same', '--autostash']);
    expect(merge).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/Merged as [^]*edits are safe in git stash/),
    });
    expect(fixture.git('stash', 'list')).toContain('litterbox autostash');
    expect(fixture.git('show', 'stash@{0}:same.txt')).toBe('mine');
    await fixture.run(['create', 'next']);
    await fixture.run(['run', 'next', 'echo x >x']);
    expect(await fixture.run(['merge', 'next'])).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/One file in your work tree still conflicts, .*: same\.txt\.\n→ .*git stash drop/),
    });
  });

  it('apply puts the changes into the work tree, leaves HEAD, and keeps the sandbox', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'taken']);
    await fixture.run(['run', 'taken', 'echo new >b.txt']);
    const head = fixture.git('rev-parse', 'HEAD');
    expect((await fixture.run(['apply', 'taken', '--dry-run'])).code).toBe(0);
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect((await fixture.run(['apply', 'taken'])).code).toBe(0);
    expect({ firstAtGit: fixture.git('status', '--porcelain'), secondAtGit: fixture.git('rev-parse', 'HEAD') }).toEqual(
      {
        firstAtGit: 'A  b.txt',
        secondAtGit: head,
      },
    );
    expect((await fixture.run(['list'])).stdout).toMatch(/^taken\tready\t/);
  });

  it('FC-273: paths of diff and apply are taken from where the person is, and lead nowhere else', async () => {
    await using fixture = new CliFixture();
    fixture.file('src/a.txt', 'a\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'more');
    await fixture.run(['create', 'below']);
    await fixture.run(['run', 'below', 'echo b >src/b.txt; echo c >c.txt']);
    const src = join(fixture.repository, 'src');
    for (const [path, is] of [
      ['b.txt', 'src/b.txt'],
      ['../c.txt', 'c.txt'],
      [join(fixture.repository, 'c.txt'), 'c.txt'],
    ] as const)
      expect(await fixture.run(['-C', src, 'diff', 'below', '--name-only', path])).toMatchObject({ stdout: `${is}\n` });
    for (const flags of [[], ['--stat']])
      expect(await fixture.run(['-C', src, 'diff', 'below', ...flags, 'c.txt'])).toEqual({
        code: 0,
        stdout: '',
        stderr: 'No changes at src/c.txt.\n',
      });
    for (const verb of ['diff', 'apply'])
      for (const path of ['../../c.txt', '/etc/passwd'])
        expect(await fixture.run(['-C', src, verb, 'below', path])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('lies outside of the repository'),
        });
    expect(await fixture.run(['-C', src, 'apply', 'below', 'b.txt'])).toMatchObject({ code: 0 });
    expect(fixture.git('status', '--porcelain')).toBe('A  src/b.txt');
  });

  it('FC-272: an apply of one name of a renamed file says what becomes of the other', async () => {
    await using fixture = new CliFixture();
    fixture.file('old.txt', 'one\ntwo\nthree\nfour\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'more');
    await fixture.run(['create', 'moved']);
    await fixture.run(['run', 'moved', 'mv old.txt new.txt']);
    const said = async (...paths: readonly string[]) =>
      (await fixture.run(['apply', 'moved', ...paths, '--dry-run'])).stderr
        .split('\n')
        .filter((line) => line.includes('both'));
    expect(await said('new.txt')).toEqual(['  new.txt was old.txt, which stays beside it. To take both, name both.']);
    expect(await said('old.txt')).toEqual([expect.stringContaining('old.txt became new.txt, which is not taken')]);
    expect(await said('new.txt', 'old.txt')).toEqual([]);
    const { stdout } = await fixture.run(['--json', 'apply', 'moved', 'new.txt']);
    expect(JSON.parse(stdout)).toMatchObject({ halfRenames: [{ from: 'old.txt', to: 'new.txt', taken: 'to' }] });
  });

  it('apply takes only the paths that are named, and refuses one at which nothing changed', async () => {
    await using fixture = new CliFixture();
    fixture.file('old/a', 'a\n');
    fixture.file('place/inner', 'inner\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'more');
    await fixture.run(['create', 'part']);
    await fixture.run([
      'run',
      'part',
      'mkdir src; echo 1 >src/one; echo 2 >src/two; echo 3 >three; rm old/a; rm -r place; echo file >place; echo b >>a.txt',
    ]);
    const wrong = await fixture.run(['apply', 'part', 'three', 'nowhere']);
    expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('changed nothing at nowhere.') });
    expect(fixture.git('status', '--porcelain')).toBe('');
    const planned = await fixture.run(['--json', 'apply', 'part', 'src', 'old', '--dry-run']);
    expect((JSON.parse(planned.stdout) as { changes: { path: string }[] }).changes.map(({ path }) => path)).toEqual([
      'old/a',
      'src/one',
      'src/two',
    ]);
    expect(await fixture.run(['apply', 'part', 'src/', 'old', 'place'])).toMatchObject({ code: 0 });
    expect(
      fixture
        .git('status', '--porcelain', '--untracked-files=all')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['D  old/a', 'A  place', 'D  place/inner', 'A  src/one', 'A  src/two']);
    fixture.git('commit', '-qm', 'some of it');
    const merged = await fixture.run(['merge', 'part']);
    expect(merged).toMatchObject({ code: 0, stderr: expect.stringContaining('is deleted') });
    expect(readFileSync(join(fixture.repository, 'three'), 'utf8')).toBe('3\n');
  });

  it('merge --dry-run ends as the merge would, and says when there is nothing', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'clash']);
    const nothing = await fixture.run(['merge', 'clash', '--dry-run']);
    expect(nothing).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/ into main:\n {2}No changes\.\n {2}Tests: .*\n$/),
    });
    await fixture.run(['run', 'clash', 'echo theirs >a.txt']);
    fixture.file('a.txt', 'ours\n');
    fixture.git('commit', '-qam', 'ours');
    expect(await fixture.run(['merge', 'clash', '--dry-run'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('conflicts: a.txt'),
    });
    expect((await fixture.run(['--json', 'merge', 'clash', '--dry-run'])).code).toBe(6);
    expect(fixture.git('status', '--porcelain')).toBe('');
  });

  it('keeps a service and its port when the command has ended, on whatever the sandbox runs', async () => {
    await using fixture = new CliFixture();
    writeFileSync(
      join(fixture.repository, '.litterbox.toml'),
      `[container.ports]\nweb = 8080
[container.services.web]\ncommand = ["busybox", "httpd", "-f", "-p", "127.0.0.1:8080", "-h", "."]\nhealth = { port = "web" }\n`,
    );
    await fixture.run(['trust', '--yes']);
    const created = await fixture.run(['create', 'served']);
    const [address = 'http://missing'] = /http:\/\/127\.0\.0\.1:\d+\//.exec(created.stderr) ?? [];
    expect({ code: created.code, text: await (await fetch(`${address}a.txt`)).text() }).toEqual({
      code: 0,
      text: 'a\n',
    });
    expect((await fixture.run(['delete', 'served', '--force'])).code).toBe(0);
    await expect(fetch(address)).rejects.toThrow();
  });

  it('reports conflicts with exit code 6 and how to go back', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'clash']);
    await fixture.run(['run', 'clash', 'echo theirs >a.txt']);
    writeFileSync(join(fixture.repository, 'a.txt'), 'ours\n');
    fixture.git('commit', '-q', '-am', 'ours');
    const merge = await fixture.run(['merge', 'clash']);
    expect({ code: merge.code, stderr: merge.stderr }).toEqual({
      code: 6,
      stderr: expect.stringContaining('git merge --abort'),
    });
    fixture.git('merge', '--abort');
    const dirty = await fixture.run(['create', 'dirty']);
    expect(dirty.code).toBe(0);
  });

  it('asks for trust once, by content', async () => {
    await using fixture = new CliFixture();
    writeFileSync(
      join(fixture.repository, '.litterbox.toml'),
      '[container]\nsetup-command = ["true"]\nbase_image = "x"\n',
    );
    const refused = await fixture.run(['create', 'n']);
    expect({ code: refused.code, stderr: refused.stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('litterbox trust'),
    });
    expect((await fixture.run(['trust'])).code).toBe(4);
    const trusted = await fixture.run(['trust', '--yes']);
    expect({ code: trusted.code, stdout: trusted.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('container.setup-command'),
    });
    const created = await fixture.run(['create', 'n']);
    expect({ code: created.code, stderr: created.stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('base-image'),
    });
    writeFileSync(join(fixture.repository, '.litterbox.toml'), 'x = [\n');
    const broken = await fixture.run(['create', 'm']);
    expect({ code: broken.code, stderr: broken.stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/\.litterbox\.toml:\d+:\d+/),
    });
  });

  it('fork names the copy, says of what it is one, and list and explain tell', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'one']);
    await fixture.run(['run', 'one', 'echo b >b.txt']);
    const forked = await fixture.run(['fork', 'one']);
    expect({ code: forked.code, stdout: forked.stdout }).toEqual({ code: 0, stdout: 'one-2\n' });
    expect(forked.stderr).toContain('one-2 is a copy of one.\n');
    expect((await fixture.run(['run', 'one-2', 'cat b.txt'])).stdout).toBe('b\n');
    expect((await fixture.run(['list'])).stdout).toMatch(/^one-2\tready\t.*\tone\none\tready\t.*\t\n$/);
    expect((await fixture.run(['explain', 'one-2'])).stdout).toContain('it began as a copy of one\n');
    const named = await fixture.run(['fork', 'one', '--name', 'Another Way', '--json']);
    expect(JSON.parse(named.stdout)).toMatchObject({ name: 'another-way', forkedFrom: 'one', warnings: [] });
    const taken = await fixture.run(['fork', 'one', '--name', 'one-2']);
    expect({ code: taken.code, stderr: taken.stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('There is a sandbox one-2 already'),
    });
  });

  it('pause, resume, restore and recover say what they did', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'time']);
    await fixture.run(['run', 'time', 'echo 1 >a.txt']);
    await fixture.run(['run', 'time', 'echo 2 >a.txt']);
    expect((await fixture.run(['pause', '--all-envs'])).stderr).toBe('time is paused.\n');
    expect((await fixture.run(['pause', 'time'])).stderr).toBe('time is already paused.\n');
    const refused = await fixture.run(['run', 'time', 'true']);
    expect({ code: refused.code, stderr: refused.stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining('litterbox resume time'),
    });
    expect((await fixture.run(['resume', 'time'])).stderr).toBe('time is ready.\n');
    expect((await fixture.run(['pause', '--all-repos'])).stderr).toContain('time is paused.\n');
    expect((await fixture.run(['resume', 'time'])).stderr).toBe('time is ready.\n');
    expect((await fixture.run(['restore', 'time', '1'])).code).toBe(0);
    expect((await fixture.run(['run', 'time', 'cat a.txt'])).stdout).toBe('1\n');
    expect(await fixture.run(['recover', 'time'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('litterbox recover time --force'),
    });
    expect((await fixture.run(['recover', 'time', '--force'])).code).toBe(0);
    expect((await fixture.run(['run', 'time', 'cat a.txt'])).stdout).toBe('1\n');
  });

  it('ends the command and records when it is interrupted, and exits 130', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'stop']);
    const child = fixture.start(['run', 'stop', '--json', 'echo begun >begun; sleep 1000']);
    child.stdin?.end();
    await eventually(
      async () => (await fixture.run(['audit', 'stop', '--json'])).stdout,
      (text) => text.includes('"running"'),
      20_000,
    );
    await eventually(
      async () => (await fixture.run(['run', 'stop', '--json', 'true'])).stderr,
      (text) => text.includes('BUSY'),
      30_000,
    ).catch(() => '');
    child.kill('SIGINT');
    expect(((await once(child, 'close')) as [number])[0]).toBe(130);
    expect((await fixture.run(['diff', 'stop', '--name-only'])).stdout).toBe('begun\n');
  });

  it('a shell says in its prompt which sandbox it is in, and a no cancels', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'asked']);
    await fixture.run(['run', 'asked', 'echo all: >Makefile']);
    const typed = async (args: readonly string[], waitedFor: string, answer: string, more = {}) => {
      const child = fixture.startInTerminal(args, more);
      let shown = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        const isNew = !shown.includes(waitedFor);
        shown += text;
        if (isNew && shown.includes(waitedFor)) child.stdin?.write(answer);
      });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, shown };
    };
    expect(await typed(['shell', 'asked'], '(asked) $ ', 'exit 3\r')).toMatchObject({ code: 3 });
    const merge = await typed(['merge', 'asked'], 'Merge asked anyway?', 'n');
    expect(merge).toEqual({ code: 4, shown: expect.stringContaining('Cancelled. Nothing was changed.') });
    expect(merge.shown).not.toMatch(/--yes-risky|error:/);
    expect(fixture.git('status', '--porcelain')).toBe('');
    const dumb = await typed(['merge', 'asked'], '[y/N]', 'n\r', { TERM: 'dumb' });
    expect(dumb).toEqual({ code: 4, shown: expect.stringContaining('Cancelled. Nothing was changed.') });
    expect(dumb.shown).not.toContain('\u001b');
  });

  it('FC-201: a terminal that writes text below text gets no colours, no pager and no line that is written over', async () => {
    await using fixture = new CliFixture();
    const shown = async (args: readonly string[]) => {
      const child = fixture.startInTerminal(args, { TERM: 'dumb', PAGER: 'sed s/^/paged:/' });
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part));
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, text: text.replaceAll('\r\n', '\n') };
    };
    expect(await shown(['create', 'plain'])).toEqual({
      code: 0,
      text: expect.stringMatching(/^Reading the base\n[^\r\u001b]*Created plain at [^\r\u001b]*plain\n$/),
    });
    await fixture.run(['run', 'plain', 'echo new >new.txt']);
    const diff = await shown(['diff', 'plain']);
    expect(diff).toEqual({ code: 0, text: expect.stringContaining('\n+new\n') });
    expect(diff.text).not.toMatch(/\u001b|paged:/);
  });

  it('FC-35: --json leaves the command its input, and one that nobody closes holds nothing up', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'input']);
    const ran = await fixture.run(['--json', 'run', 'input', 'cat; echo err >&2; echo x >x; exit 3'], 'data');
    expect({ code: ran.code, stderr: ran.stderr, document: JSON.parse(ran.stdout) }).toMatchObject({
      code: 3,
      stderr: '',
      document: { exitCode: 3, stdout: 'data', stderr: 'err\n', timedOut: false, recorded: { changedFiles: 1 } },
    });
    const open = fixture.start(['--json', 'run', 'input', '--timeout', '1s', 'sleep 60']);
    let said = '';
    open.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(open, 'close')) as [number];
    expect({ code, document: JSON.parse(said) }).toMatchObject({ code: 124, document: { timedOut: true } });
  });

  it('FC-61: a terminal that says it has no columns has 80 of 24 rows', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'unsized']);
    const line = `stty cols 0 rows 0; exec ${[...NODE, 'run', 'unsized', '-t', '--', 'stty', 'size'].map(quoted).join(' ')}`;
    const typed = spawnSync('script', ['-qec', line, '/dev/null'], {
      cwd: fixture.repository,
      env: { ...fixture.environment, SHELL: '/bin/sh' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect({ code: typed.status, stdout: typed.stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/24 80\s/),
    });
  });

  it('gives a real terminal', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'term']);
    const command = `stty rows 33 cols 99; ${NODE.join(' ')} run term --tty -- sh -c 'test -t 0 && stty size; echo typed: $(head -n 1); exit 7'`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: fixture.repository,
      env: fixture.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
    await eventually(
      async () => text,
      (seen) => seen.includes('33 99'),
      20_000,
    );
    child.stdin.write('hello\r');
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, text }).toEqual({ code: 7, text: expect.stringContaining('typed: hello') });
  });

  it('prints completion scripts that shells can read, and completes names', async () => {
    await using fixture = new CliFixture();
    const { stdout } = await fixture.run(['completion', 'bash']);
    execFileSync('bash', ['-n'], { input: stdout });
    await fixture.run(['create', 'completed']);
    expect((await fixture.run(['complete', '--', 'diff', ''])).stdout).toContain('completed');
    expect((await fixture.run(['complete', '--', 'mer'])).stdout).toContain('merge');
    const typed = `set -e; shopt -u progcomp_alias; litterbox() { ${NODE.map(quoted).join(' ')} "$@"; }
      source ./script; source ./script
      COMP_WORDS=(litterbox diff com); COMP_CWORD=2; __litterbox_complete 2>/dev/null || true; echo "\${COMPREPLY[@]}"`;
    fixture.file('script', stdout);
    const completed = spawnSync('bash', ['--norc', '--noprofile', '-c', typed], {
      cwd: fixture.repository,
      env: fixture.environment,
      encoding: 'utf8',
    });
    expect(completed).toMatchObject({ status: 0, stdout: 'completed\n', stderr: '' });
  });

  it('is quiet when whoever reads it leaves, and uses no colour in a pipe', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'pipe']);
    const { stdout, stderr } = await fixture.run(['explain', 'pipe']);
    expect(stdout + stderr).not.toContain('\u001b[');
    const piped = spawn('sh', ['-c', `${NODE.join(' ')} explain pipe | head -n 1; echo "$?"`], {
      cwd: fixture.repository,
      env: fixture.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let noise = '';
    piped.stderr.on('data', (bytes: Buffer) => (noise += bytes.toString()));
    await once(piped, 'close');
    expect(noise).toBe('');
  });

  it('FC-469: says that the directory was removed in which it is started, and works with -C', async () => {
    await using fixture = new CliFixture();
    const inGone = (args: string) =>
      spawnSync('sh', ['-c', `mkdir gone && cd gone && rmdir ../gone && exec ${NODE.join(' ')} ${args}`], {
        cwd: fixture.repository,
        env: fixture.environment,
        encoding: 'utf8',
      });
    expect(inGone('list')).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/^error: The directory that you are in was removed\.\n→ [^\n]*\n$/),
    });
    expect(inGone('-C .. list').status).toBe(3);
    expect(inGone('--version')).toMatchObject({ status: 0, stderr: '' });
    expect(inGone(`-C ${fixture.repository} create gone`)).toMatchObject({ status: 0, stdout: 'gone\n' });
    expect(inGone(`-C ${fixture.repository} run gone pwd`)).toMatchObject({
      status: 0,
      stdout: `${fixture.repository}\n`,
    });
  });

  it('FC-461: output that nobody takes to its end is no success', async () => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'pipe']);
    const shell = async (command: string) => {
      const child = spawn('bash', ['-c', command], {
        cwd: fixture.repository,
        env: fixture.environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [stderr] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'close')]);
      return { code: child.exitCode, stderr };
    };
    const lines = `${NODE.join(' ')} run pipe 'yes | head -n 1000000; exit 7'`;
    expect(await shell(`${lines} | head -n 1; exit "\${PIPESTATUS[0]}"`)).toMatchObject({ code: 141 });
    expect(await shell(`${NODE.join(' ')} list >/dev/full`)).toEqual({
      code: 5,
      stderr: expect.stringContaining('cannot be written to its end'),
    });
  });

  it('says how a command is used when its words cannot be read', async () => {
    await using fixture = new CliFixture();
    for (const [args, usage] of [
      [['run'], 'Usage: litterbox run [options] <name> <command...>; litterbox run --help'],
      [['create', 'x', '--memoryy', '1'], 'Usage: litterbox create [options] [name]; litterbox create --help'],
      [['agent', 'install'], 'Usage: litterbox agent install [options] <client>; litterbox agent install --help'],
      [['bogus'], 'litterbox --help lists the commands'],
    ] as const) {
      const { code, stderr } = await fixture.run(args);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringContaining(usage) });
    }
  });

  it('doctor ends with 1 where an ordinary user has to take a step first', async () => {
    if (process.getuid?.() !== 0 || PROVIDER !== 'overlayfs') return; // needs somebody who may limit nothing
    await using fixture = new CliFixture();
    const home = join(fixture.directory, 'nobody');
    mkdirSync(home);
    chownSync(home, 65_534, 65_534);
    chmodSync(fixture.directory, 0o755);
    const doctor = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...NODE, 'doctor'], {
      cwd: home,
      env: { ...fixture.environment, HOME: home, LITTERBOX_HOME: join(home, 'state') },
      encoding: 'utf8',
    });
    expect({ code: doctor.status, stdout: doctor.stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^overlayfs: needs one step\n.*warning control-groups: .*\n +→ /ms),
    });
  });

  it('every command has help with examples', async () => {
    await using fixture = new CliFixture();
    const help = (await fixture.run(['--help'])).stdout;
    const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help');
    expect(commands.length).toBeGreaterThanOrEqual(18);
    for (const name of commands) {
      const { code, stdout } = await fixture.run([name, '--help']);
      expect({ name, code, length: stdout.split('  $ litterbox').length }).toEqual({
        name,
        code: 0,
        length: expect.any(Number),
      });
      expect(stdout).toContain(`$ litterbox ${name}`);
    }
  });
});
