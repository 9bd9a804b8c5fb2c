import { describe, expect, it } from '@jest/globals';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '@litterbox/core';
import type { Litterbox, Sandbox } from '../src/index.ts';
import { PROVIDER, provider } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

const FILES = { 'package-lock.json': '{}\n', 'src/a.txt': 'a\n', '.gitignore': 'modules/\n' };
/** Leaves an ignored directory, something at home, and, when `tracked` is there, work that source control records. */
const SETUP = [
  'sh',
  '-c',
  'mkdir -p modules/deep; cat /proc/sys/kernel/random/uuid >modules/deep/run; echo cached >~/cache; ln -s deep modules/link; mkfifo modules/fifo',
];
const NEW_FILE = ['sh', '-c', 'echo made >made.txt'];
const EDIT = ['sh', '-c', 'echo b >>src/a.txt; cat /proc/sys/kernel/random/uuid >run.id'];

async function create(litterbox: Litterbox, name: string, setup: readonly (readonly string[])[]) {
  const steps: Progress[] = [];
  const sandbox = await litterbox.create(
    { name, setup: setup as [string, ...string[]][] },
    { onProgress: (progress) => void steps.push(progress) },
  );
  return { sandbox, said: steps.filter(({ step }) => step === 'setup').map(({ message }) => message) };
}

const runOf = async (sandbox: Sandbox, file = 'modules/deep/run') => (await sandbox.run(`cat ${file}`)).stdout;
const commit = (fixture: LibraryFixture, path: string, content: string) => {
  fixture.file(path, content);
  fixture.git('add', '-A');
  fixture.git('commit', '-q', '-m', 'next');
};

describe(`the setup is kept, on ${PROVIDER}`, () => {
  it('the second sandbox begins with what the setup left, and neither sees what the other writes', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const one = await create(litterbox, 'one', [SETUP, NEW_FILE]);
    expect(one.said).toContain(`Setting up: ${NEW_FILE.join(' ')}`);
    const run = await runOf(one.sandbox);
    expect(run).toMatch(/^[0-9a-f-]{36}\n$/);
    const two = await create(fixture.open(), 'two', [SETUP, NEW_FILE]);
    expect(two.said).toEqual(['Set up already: taking what the same setup left before']);
    for (const { sandbox } of [one, two]) {
      expect(await runOf(sandbox)).toBe(run);
      expect(
        (await sandbox.run('cat ~/cache made.txt; readlink modules/link; [ -p modules/fifo ] && echo fifo')).stdout,
      ).toBe('cached\nmade\ndeep\nfifo\n');
      expect((await sandbox.log()).map(({ number, subject }) => [number, subject.slice(0, 6)])).toEqual([
        [1, 'setup:'],
      ]);
      expect(await sandbox.diff()).toContain('+made');
    }
    expect(await two.sandbox.diff()).toBe(await one.sandbox.diff());

    // Writes of every kind on one side; the other side and a third do not see them.
    await one.sandbox.run(
      'echo mine >modules/deep/run; echo mine >~/cache; rm made.txt modules/link; echo x >modules/new; chmod 600 src/a.txt; echo own >~/own',
    );
    const three = await create(fixture.open(), 'three', [SETUP, NEW_FILE]);
    for (const { sandbox } of [two, three]) {
      expect(await runOf(sandbox)).toBe(run);
      expect((await sandbox.run('cat ~/cache made.txt; ls modules ~; stat -c %a src/a.txt')).stdout).toBe(
        'cached\nmade\n/home/agent:\ncache\n\nmodules:\ndeep\nfifo\nlink\n644\n',
      );
    }
    expect(await one.sandbox.diff()).toBe('');
    // What was ignored when the setup left it, and is not any more, is recorded once the rule goes.
    await two.sandbox.run('rm modules/fifo; : >.gitignore');
    expect(await two.sandbox.diff()).toContain('modules/deep/run');
  });

  it('another lock file, command, variable or named file is another setup; other files are not', async () => {
    await using fixture = new LibraryFixture({ ...FILES, 'tools/prepare': 'echo\n' });
    const litterbox = fixture.open();
    const prepare = ['sh', './tools/prepare'];
    const run = await runOf((await create(litterbox, 'first', [SETUP, prepare])).sandbox);
    const next = async (name: string, setup = [SETUP, prepare]) =>
      await runOf((await create(litterbox, name, setup)).sandbox);
    commit(fixture, 'src/a.txt', 'other\n');
    expect(await next('source')).toBe(run);
    expect(await next('command', [SETUP])).not.toBe(run);
    commit(fixture, 'tools/prepare', 'echo other\n');
    expect(await next('script')).not.toBe(run);
    commit(fixture, 'tools/prepare', 'echo\n');
    expect(await next('script-again')).toBe(run);
    commit(fixture, 'sub/Cargo.lock', 'x\n');
    expect(await next('lock')).not.toBe(run);
    const fresh = await litterbox.create({ name: 'fresh', setup: SETUP as [string], freshSetup: true });
    expect(await runOf(fresh)).not.toBe(await next('not-fresh', [SETUP]));
  });

  it('a setup that leaves nothing for the history: none is made of it, unless the rules change', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const first = await create(litterbox, 'first', [SETUP]);
    const next = await create(fixture.open(), 'next', [SETUP]);
    for (const { sandbox } of [first, next]) {
      await sandbox.run('echo x >modules/deep/more; echo x >own');
      expect((await sandbox.log()).map(({ subject }) => subject)).toEqual([expect.stringContaining('run: ')]);
      expect(await sandbox.diff()).not.toContain('modules');
      await sandbox.run(': >.gitignore');
      expect(await sandbox.diff()).toContain('+++ b/modules/deep/run');
    }
    // Without the rule the same setup leaves much for the history.
    commit(fixture, '.gitignore', '');
    expect(await (await create(litterbox, 'open', [SETUP])).sandbox.diff()).toContain('+++ b/modules/deep/run');
    // A rule that the setup itself leaves holds in both.
    const own = ['sh', '-c', 'mkdir venv; echo "*" >venv/.gitignore; echo x >venv/lib'];
    for (const name of ['venv-1', 'venv-2']) {
      const { sandbox } = await create(litterbox, name, [own]);
      await sandbox.run('echo y >venv/lib; echo y >venv/new');
      expect(await sandbox.diff()).toBe('');
    }
  });

  it('a setup that changes what the base has is kept for that base alone', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const first = await create(litterbox, 'first', [EDIT]);
    const run = await runOf(first.sandbox, 'run.id');
    const same = await create(litterbox, 'same', [EDIT]);
    expect(await runOf(same.sandbox, 'run.id')).toBe(run);
    expect(await same.sandbox.diff()).toBe(await first.sandbox.diff());
    commit(fixture, 'src/a.txt', 'other\n');
    const other = await create(litterbox, 'other', [EDIT]);
    expect(await runOf(other.sandbox, 'run.id')).not.toBe(run);
    expect((await other.sandbox.run('cat src/a.txt')).stdout).toBe('other\nb\n');
  });

  it('what a setup left is not laid over files that the base has by now', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const setup = ['sh', '-c', 'for d in s*c; do echo made >$d/made.txt; done']; // a word that named the file would be in the key
    await create(litterbox, 'first', [setup]);
    commit(fixture, 'src/made.txt', 'of a person\n');
    const { sandbox, said } = await create(litterbox, 'later', [setup]);
    expect(said).toEqual([expect.stringMatching(/^Set up already/), `Setting up: ${setup.join(' ')}`]);
    expect((await sandbox.log()).map(({ number }) => number)).toEqual([1]);
    expect(await sandbox.diff()).toContain('-of a person\n+made\n');
    // At the top it is looked at beforehand, because an ignored directory would hide the base's without a trace.
    const cleaning = ['sh', '-c', 'rm -rf modules'];
    await create(litterbox, 'ignored', [cleaning, SETUP]);
    fixture.file('modules/deep/run', 'of a person\n');
    fixture.git('add', '-f', 'modules');
    fixture.git('commit', '-q', '-m', 'by force');
    const again = await create(litterbox, 'forced', [cleaning, SETUP]);
    expect(again.said).not.toContain('Set up already: taking what the same setup left before');
    expect(await again.sandbox.diff()).toContain('-of a person\n');
  });

  if (PROVIDER === 'overlayfs') {
    it('programs that were replaced are another machine; a file that came and went beside them is not', async () => {
      await using fixture = new LibraryFixture(FILES);
      const tools = join(fixture.directory, 'tools', 'bin');
      mkdirSync(tools, { recursive: true });
      const install = (text: string) => {
        writeFileSync(join(tools, '.new'), `#!/bin/sh\necho ${text}\n`);
        chmodSync(join(tools, '.new'), 0o755);
        renameSync(join(tools, '.new'), join(tools, 'tool'));
      };
      const created = async (name: string) => {
        const searching: typeof provider = (machine) =>
          provider({ ...machine, facts: { ...machine.facts, searchPath: [tools, ...machine.facts.searchPath] } });
        const { sandbox, said } = await create(fixture.open({ providers: [searching] }), name, [['tool'], SETUP]);
        expect((await sandbox.run('tool')).stdout).toMatch(/^v[12]\n$/);
        return said[0];
      };
      install('v1');
      expect(await created('one')).toBe('Setting up: tool');
      writeFileSync(join(tools, '.lock'), ''); // as pyenv does at every login
      rmSync(join(tools, '.lock'));
      expect(await created('two')).toBe('Set up already: taking what the same setup left before');
      install('v2');
      expect(await created('three')).toBe('Setting up: tool');
    });
  }

  it('a failed setup is not kept, and two at once are fine', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const failing = [SETUP, ['sh', '-c', 'exit 3']];
    for (const name of ['bad', 'bad-again'])
      await expect(create(litterbox, name, failing)).rejects.toMatchObject({ code: 'SETUP_FAILED' });
    const names = ['a', 'b', 'c'];
    const made = await Promise.all(names.map(async (name) => (await create(fixture.open(), name, [SETUP])).sandbox));
    for (const sandbox of made) expect(await runOf(sandbox)).toMatch(/^[0-9a-f-]{36}\n$/);
    const { sandbox, said } = await create(litterbox, 'd', [SETUP]);
    expect(said).toEqual(['Set up already: taking what the same setup left before']);
    expect(await runOf(sandbox)).toBeTruthy();
    const unfinished = ['bases', 'sandboxes', 'setups', 'setups/overlay']
      .map((name) => join(fixture.stateDirectory, PROVIDER, name))
      .filter((path) => existsSync(path))
      .flatMap((path) => readdirSync(path))
      .filter((name) => name.startsWith('.unfinished-'));
    expect(unfinished).toEqual([]);
  });
});
