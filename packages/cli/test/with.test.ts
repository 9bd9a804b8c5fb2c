import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { quoted } from '@litterbox/core';
import { BARE_IMAGE } from '../src/bare-image.ts';
import { CliFixture, NODE, PROVIDER, type Ran } from './cli-fixture.ts';

const CODEX = fileURLToPath(new URL('../../agents/test/fixtures/codex.mjs', import.meta.url));

const CLAUDE = fileURLToPath(new URL('../../agents/test/fixtures/claude.mjs', import.meta.url));

const WRAPPER = fileURLToPath(new URL('../../../examples/claude-runner/exec-path.sh', import.meta.url));

type Run = (args: readonly string[], more?: Readonly<Record<string, string>>) => Promise<Ran>;

/** A PATH that has a `codex` that behaves in one way. As a launcher it stays there while the agent works, as that of npm does. */
function personPath(fixture: CliFixture, mode: 'remote' | 'local', as?: 'launcher'): { readonly PATH: string } {
  const bin = join(fixture.directory, 'bin');
  mkdirSync(bin);
  const line = `'${process.execPath}' '${CODEX}' ${mode} "$@"`;
  writeFileSync(join(bin, 'codex'), as === 'launcher' ? `#!/bin/sh\n${line}\nexit $?\n` : `#!/bin/sh\nexec ${line}\n`);
  chmodSync(join(bin, 'codex'), 0o755);
  return { PATH: `${bin}:${process.env['PATH'] ?? '/usr/bin:/bin'}` };
}

/** What a file says, once it is there. */
async function appears(path: string): Promise<string> {
  for (;;) {
    const found = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (found !== '') return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '); // nobody has to wait for it
  } catch {
    return false;
  }
}

/** The command line of a person with it. */
function personWith(fixture: CliFixture, mode: 'remote' | 'local'): Run {
  const own = personPath(fixture, mode);
  return async (args, more) => await fixture.run(args, undefined, { ...own, ...more });
}

const said = ({ stderr }: Ran) =>
  stderr.split('\n').filter((line) => !/^(Reading|Starting|Unpacking|Setting|Trying) /.test(line));

describe('litterbox with codex', () => {
  it('seats the agent in a sandbox named by the branch, and says what it left; nothing here changes', async () => {
    await using fixture = new CliFixture();
    const run = personWith(fixture, 'remote');
    // What a sandbox stands on is kept from git's garbage collection.
    const digest = () => fixture.digest().replaceAll(/^.*refs\/litterbox\/base\/.*\n/gm, '');
    const before = digest();
    const ran = await run([
      'with',
      'codex',
      '--',
      'run',
      'echo b >a.txt',
      'echo of the agent; cd /tmp; echo exit 4 >test; sh test',
    ]);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 4, stdout: 'of the agent\n' });
    expect(said(ran)).toEqual([
      ...(PROVIDER === 'docker' ? [BARE_IMAGE] : []),
      'Codex works in main-codex: its commands and files are there, not here.',
      'Codex left main-codex with one changed file, in 2 calls.',
      'Its last test ended with exit code 4: echo of the agent; cd /tmp; echo exit 4 >test; sh test',
      '  litterbox diff main-codex',
      '  litterbox merge main-codex',
      '  litterbox with codex --continue',
      '',
    ]);
    expect(digest()).toBe(before);
    const again = await run(['with', 'codex', '--continue', '--', 'run', 'cat a.txt']);
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: 'b\n' });
    expect(again.stderr).toContain('one changed file, in one call');
    expect((await fixture.run(['log', 'main-codex', '--json'])).stdout).toContain('call_fixture');
    const other = await run(['with', 'codex', '--', 'run', 'cat a.txt']);
    expect(other.stdout).toBe('a\n');
    expect(other.stderr).toContain('main-codex-2');
    // More than the log tells where nobody says how many.
    const many = await run(['with', 'codex', '--continue', '--', 'run', ...Array<string>(101).fill('true')]);
    expect(many.stderr).toContain('0 changed files, in 101 calls');
  });

  it('lets a runner of sessions start Claude, by the program and with the descriptor that it names', async () => {
    await using fixture = new CliFixture();
    const program = join(fixture.directory, 'claude');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${CLAUDE}' "$@"\n`, { mode: 0o755 });
    const command = join(fixture.directory, 'litterbox');
    writeFileSync(command, `#!/bin/sh\nexec ${NODE.map(quoted).join(' ')} "$@"\n`, { mode: 0o755 });
    const runner = spawn(WRAPPER, ['-p', 'run', 'echo b >a.txt; echo inside'], {
      cwd: fixture.repository,
      env: {
        ...fixture.environment,
        CLAUDE_RUNNER_CLAUDE_BIN: program,
        PATH: `${fixture.directory}:${fixture.environment['PATH'] ?? ''}`,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const outputs = runner.stdio.slice(1) as Readable[];
    const [[stdout, stderr, more], [code]] = await Promise.all([Promise.all(outputs.map(text)), once(runner, 'exit')]);
    expect({ code, stdout, more }).toEqual({ code: 0, stdout: 'inside\n', more: 'of the session\n' });
    expect(stderr).toContain('Claude Code left main-claude with one changed file, in one call.');
  });

  it('FC-334: says which work of the person is not in the sandbox, and how to go on in one without a call', async () => {
    await using fixture = new CliFixture();
    writeFileSync(join(fixture.repository, 'new.txt'), 'n');
    const run = personWith(fixture, 'remote');
    const { stderr } = await run(['with', 'codex', '--sandbox', 'Größe', '--', 'run']);
    expect(stderr).toContain(
      'One uncommitted change is not in the sandbox: new.txt (to include them: --from worktree)\n',
    );
    expect(stderr).toContain('  litterbox with codex --sandbox gro-e\n');
  });

  it('FC-310: begins at the top where the directory is not inside, and refuses a sandbox that stands still', async () => {
    await using fixture = new CliFixture();
    mkdirSync(join(fixture.repository, 'untracked'));
    const own = personPath(fixture, 'remote');
    const at = join(fixture.repository, 'untracked');
    const words = ['with', 'codex', '--sandbox', 'one', '--', 'run', 'cat a.txt'];
    const ran = await fixture.run(words, undefined, own, at);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 0, stdout: 'a\n' });
    expect(ran.stderr).toContain('untracked is not in one, so Codex begins at its top.');
    await fixture.run(['pause', 'one', '--stop']);
    const stopped = await fixture.run(words, undefined, own);
    expect({ code: stopped.code, stdout: stopped.stdout }).toEqual({ code: 5, stdout: '' });
    expect(stopped.stderr).toContain('litterbox resume one');
  });

  it('seats one agent at a time, told in the list, unless they are to share', async () => {
    await using fixture = new CliFixture();
    const run = personWith(fixture, 'remote');
    const [started, may] = ['started', 'may-end'].map((name) => join(fixture.directory, name)) as [string, string];
    const first = run(['with', 'codex', '--sandbox', 'one', '--', 'run', 'true'], {
      FIXTURE_STARTED: started,
      FIXTURE_WAITS: may,
    });
    await appears(started);
    const second = await run(['with', 'codex', '--sandbox', 'one', '--', 'run', 'touch no']);
    expect(second).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/codex \(process \d+\) is at work in one\.\n.*--share/),
    });
    expect(JSON.parse((await fixture.run(['list', '--json'])).stdout)).toMatchObject([{ name: 'one', agent: 'codex' }]);
    const third = await run(['with', 'codex', '--sandbox', 'one', '--share', '--', 'run', 'echo shared']);
    expect(third.stdout).toBe('shared\n');
    writeFileSync(may, '');
    expect((await first).code).toBe(0);
    expect(JSON.parse((await fixture.run(['list', '--json'])).stdout)[0]).not.toHaveProperty('agent');
  });

  it('FC-335: a sandbox that was deleted meanwhile is told as that, and the exit code is the agent’s', async () => {
    await using fixture = new CliFixture();
    const run = personWith(fixture, 'remote');
    const [started, may] = ['started', 'may-end'].map((name) => join(fixture.directory, name)) as [string, string];
    const files = { FIXTURE_STARTED: started, FIXTURE_WAITS: may };
    const agent = run(['with', 'codex', '--sandbox', 'one', '--', 'run', 'exit 3'], files);
    await appears(started);
    expect((await fixture.run(['delete', 'one', '--force'])).code).toBe(0);
    writeFileSync(may, '');
    const { code, stderr } = await agent;
    expect({ code, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      code: 3,
      last: expect.stringMatching(/^The sandbox "one" was deleted on .* \(by a person, on the command line\)\.$/),
    });
  });

  it('Ctrl-C is for the agent, which may think on: the sandbox and its seat stay', async () => {
    await using fixture = new CliFixture();
    const [started, may, interrupted] = ['started', 'may-end', 'interrupted'].map((name) =>
      join(fixture.directory, name),
    ) as [string, string, string];
    const { PATH } = personPath(fixture, 'remote');
    const child = fixture.startInTerminal(['with', 'codex', '--sandbox', 'one', '--', 'run', 'true'], {
      PATH,
      FIXTURE_STARTED: started,
      FIXTURE_WAITS: may,
      FIXTURE_INTERRUPTED: interrupted,
    });
    const said = child.stdout ? text(child.stdout) : '';
    await appears(started);
    for (const times of ['1', '2', '3']) {
      child.stdin?.write('\u0003');
      while ((await appears(interrupted)) !== times) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    writeFileSync(may, '');
    expect((await once(child, 'close'))[0]).toBe(0);
    expect(await said).toContain('Codex left one with 0 changed files, in one call.');
  });

  it.each([
    ['from outside', 'SIGTERM', 143],
    ['with its terminal (FC-301)', 'SIGHUP', 129],
  ] as const)(
    'ended %s, it ends the agent behind a launcher too, and says what is left',
    async (_how, signal, code) => {
      await using fixture = new CliFixture();
      const started = join(fixture.directory, 'started');
      const { PATH } = personPath(fixture, 'remote', 'launcher');
      const child = fixture.start(['with', 'codex', '--sandbox', 'one', '--', 'run', 'echo b >a.txt'], {
        PATH,
        FIXTURE_STARTED: started,
        FIXTURE_WAITS: join(fixture.directory, 'never'),
      });
      const said = child.stderr ? text(child.stderr) : '';
      const [, agent] = (await appears(started)).split(' ');
      child.kill(signal);
      expect((await once(child, 'close'))[0]).toBe(code);
      while (isAlive(Number(agent))) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await said).toContain('Codex left one with one changed file, in one call.');
    },
  );

  it('makes no sandbox and starts nothing where the agent would not be in it', async () => {
    await using fixture = new CliFixture();
    const run = personWith(fixture, 'local');
    const refused = await run(['with', 'codex', '--', 'run', 'touch here']);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('ran a command on this machine') });
    mkdirSync(join(fixture.directory, '.codex'));
    writeFileSync(join(fixture.directory, '.codex/environments.toml'), 'default = "local"\n');
    const elsewhere = await run(['with', 'codex', '--', 'run', 'touch here']);
    expect(elsewhere.stderr).toContain('environments.toml decides where Codex works');
    expect((await fixture.run(['list', '--json'])).stdout).toBe('[]\n');
    expect(existsSync(join(fixture.repository, 'here'))).toBe(false);
  });
});

describe('litterbox agent install codex --hands', () => {
  it('leads Codex to a sandbox wherever it is started, until it is uninstalled', async () => {
    await using fixture = new CliFixture();
    const run = personWith(fixture, 'remote');
    const home = join(fixture.directory, '.codex');
    const installed = await run(['agent', 'install', 'codex', '--hands', '--yes']);
    expect(installed).toMatchObject({ code: 0, stderr: expect.stringContaining('works in the sandbox codex of the') });
    const file = join(home, 'environments.toml');
    expect(readFileSync(file, 'utf8')).toMatch(/^default = "litterbox-codex"\ninclude_local = false\n/);
    const codex = async (...commands: readonly string[]) =>
      await ended(join(fixture.directory, 'bin/codex'), ['run', ...commands], fixture.repository, {
        ...fixture.environment,
        CODEX_HOME: home,
      });
    expect(await codex('echo b >a.txt', 'cat a.txt')).toEqual({ code: 0, output: 'b\n' });
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect((await fixture.run(['log', 'codex', '--json'])).stdout).toContain('call_fixture');
    expect(JSON.parse((await fixture.run(['list', '--json'])).stdout)[0]).not.toHaveProperty('agent');
    expect((await run(['agent', 'uninstall', 'codex', '--hands', '--yes'])).code).toBe(0);
    expect(existsSync(home)).toBe(false);
  });

  it('a Codex that such a file does not lead gets none', async () => {
    await using fixture = new CliFixture();
    const run = personWith(fixture, 'local');
    const refused = await run(['agent', 'install', 'codex', '--hands', '--yes']);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('ran a command on this machine') });
    const other = await run(['agent', 'install', 'claude', '--hands', '--yes']);
    expect(other).toMatchObject({ code: 5, stderr: expect.stringContaining('litterbox with claude') });
    expect(existsSync(join(fixture.directory, '.codex'))).toBe(false);
  });
});

async function ended(program: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>]);
  return { code, output };
}
