import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core';
import type { Litterbox } from '../src/index.ts';
import { PROVIDER } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

const FILES = { 'src/a.txt': 'a\n', '.gitignore': 'ignored/\n' };
const numbers = async (litterbox: Litterbox, name: string) => {
  const found: number[] = [];
  for await (const { number } of litterbox.log(name)) found.push(number);
  return found;
};
const stateOf = async (litterbox: Litterbox, name: string) =>
  (await litterbox.list()).find((one) => one.name === name)?.state;

describe(`fork, on ${PROVIDER}`, () => {
  it('a fork has files of every kind and the whole history; from there on each goes its own way', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const source = await litterbox.create({ name: 'source', setup: ['sh', '-c', 'echo set up >>~/setup'] });
    await source.run(
      'mkdir ignored; echo cached >ignored/file; echo b >src/b.txt; echo play >"$LITTERBOX_PLAYGROUND/file"',
    );
    await source.milestone('b is there');
    await source.files.write('src/a.txt', 'changed\n', { message: 'Change a' });

    const fork = await source.fork();
    expect({ name: fork.name, forkedFrom: fork.forked.forkedFrom, warnings: fork.forked.warnings }).toEqual({
      name: 'source-2',
      forkedFrom: 'source',
      warnings: [],
    });
    const look = 'cat ignored/file src/a.txt src/b.txt ~/setup "$LITTERBOX_PLAYGROUND/file"';
    const everything = 'cached\nchanged\nb\nset up\nplay\n';
    const looked = await fork.run(look);
    expect({ stdout: looked.stdout, stderr: looked.stderr }).toEqual({ stdout: everything, stderr: '' });
    expect(looked.recorded.revision).toBeUndefined();
    expect(await fork.log()).toEqual(await source.log());
    expect(await fork.diff()).toBe(await source.diff());
    expect(fixture.git('rev-parse', 'litterbox/source-2')).toBe(fixture.git('rev-parse', 'litterbox/source'));

    await fork.run(
      'echo fork >src/c.txt; rm src/b.txt; echo fork >ignored/file; echo fork >"$LITTERBOX_PLAYGROUND/file"',
    );
    await source.run('echo source >src/a.txt');
    expect((await source.run(look)).stdout).toBe('cached\nsource\nb\nset up\nplay\n');
    expect((await fork.run('cat src/a.txt; ls src')).stdout).toBe('changed\na.txt\nc.txt\n');
    expect(await numbers(litterbox, 'source')).toEqual([3, 2, 1]);
    expect(await numbers(litterbox, 'source-2')).toEqual([3, 2, 1]);
    expect(await fork.diff()).toContain('+++ b/src/c.txt');
    expect(await fork.diff()).not.toContain('+source');
    expect(await fork.milestone('c is there')).toMatchObject({ branch: 'refs/heads/litterbox/source-2', revisions: 2 });
    expect(fixture.git('log', '--format=%s', 'litterbox/source-2')).toMatch(/^c is there\nb is there\n/);
    expect(fixture.git('log', '-1', '--format=%s', 'litterbox/source')).toBe('b is there');

    expect((await litterbox.list()).map(({ name, forkedFrom }) => [name, forkedFrom])).toEqual([
      ['source', undefined],
      ['source-2', 'source'],
    ]);
    expect((await litterbox.audit()).map(({ operation }) => operation)).toContain('sandbox-fork');
    expect((await litterbox.events(0)).filter(({ type }) => type === 'sandbox-created').at(-1)?.data).toMatchObject({
      slug: 'source-2',
      forkedFrom: 'source',
    });

    // What is left when one of them is deleted is whole, and its work comes into the branch.
    await litterbox.delete('source', { force: true });
    expect(await litterbox.reconcile()).toEqual([]);
    const { revision } = (await fork.run('echo more >>src/c.txt')).recorded;
    expect((await litterbox.apply('source-2', { tip: revision?.commit })).outcome).toBe('staged');
    expect(readFileSync(join(fixture.repository, 'src/c.txt'), 'utf8')).toBe('fork\nmore\n');
    expect(readFileSync(join(fixture.repository, 'src/a.txt'), 'utf8')).toBe('changed\n');
    await litterbox.delete('source-2', { force: true });
    expect(fixture.git('for-each-ref', 'refs/litterbox', 'refs/heads/litterbox')).toBe('');
  });

  it('a sandbox is made of a snapshot of another one, by its id', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const base = await litterbox.create({ name: 'snapshot-base' });
    await base.run('mkdir -p ignored; echo old >ignored/file; echo old >~/file; echo old >src/a.txt');
    const { id } = await base.snapshot();
    await base.run('echo new >ignored/file; echo new >~/file; echo new >src/a.txt; echo new >src/new.txt');
    const made = await litterbox.create({ from: id, name: 'of-snapshot' });
    expect((await made.run('cat ignored/file ~/file src/a.txt; ls src')).stdout).toBe('old\nold\nold\na.txt\n');
    expect(await made.diff()).toContain('+old');
    expect((await base.run('cat ignored/file')).stdout).toBe('new\n');
    await base.delete({ force: true });
    expect((await made.run('cat ~/file')).stdout).toBe('old\n');
    await made.delete({ force: true });
  });

  it('what nobody recorded is recorded first; a paused or stopped source stays so; a fork can be forked', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const source = await litterbox.create({ name: 'source' });
    await source.run(
      '( while [ ! -e go ]; do sleep 0.01; done; echo late >late.txt ) >/dev/null 2>&1 & touch go; while [ ! -e late.txt ]; do :; done',
    );
    await litterbox.setRunState('source', 'paused');
    const one = await source.fork({ name: 'From Paused' });
    expect(one.name).toBe('from-paused');
    expect((await one.run('cat late.txt')).stdout).toBe('late\n');
    expect(await stateOf(litterbox, 'source')).toBe('paused');
    await litterbox.setRunState('source', 'stopped');
    const two = await source.fork({ name: 'from-stopped' });
    expect((await two.run('cat late.txt')).stdout).toBe('late\n');
    expect(await stateOf(litterbox, 'source')).toBe('stopped');
    await litterbox.setRunState('source', 'ready');
    expect((await source.run('cat late.txt')).stdout).toBe('late\n');
    await two.run('echo two >two.txt');
    const three = await two.fork();
    expect(three.name).toBe('from-stopped-2');
    expect((await three.run('cat two.txt')).stdout).toBe('two\n');
    expect(await numbers(litterbox, three.name)).toEqual(await numbers(litterbox, two.name));
  });

  it('a name that is taken, a source that nobody made, a branch in the way: refused, and nothing is left', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const source = await litterbox.create({ name: 'source' });
    await source.files.write('src/b.txt', 'b\n');
    await source.milestone('b');
    const before = fixture.git('for-each-ref');
    const refused = async (asked: Promise<unknown>) =>
      await asked.then(
        () => '',
        (error: unknown) => (isLitterboxError(error) ? error.code : error),
      );
    expect(await refused(source.fork({ name: 'source' }))).toBe('SANDBOX_EXISTS');
    fixture.git('branch', 'litterbox/mine');
    expect(await refused(source.fork({ name: 'mine' }))).toBe('CONFLICT');
    fixture.git('branch', '-D', 'litterbox/mine');
    await litterbox.setRunState('source', 'stopped');
    await litterbox.delete('source', { force: true });
    expect(await refused(source.fork())).toBe('SANDBOX_NOT_FOUND');
    expect(await litterbox.list()).toEqual([]);
    expect(before).toContain('litterbox/source');
    expect(fixture.git('for-each-ref', 'refs/litterbox', 'refs/heads/litterbox')).toBe('');
  });
});

describe(`snapshots, on ${PROVIDER}`, () => {
  it('a snapshot brings back ignored files and home, as a revision, for another program too', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'source' });
    const look = 'cat ignored/file src/*.txt ~/home; ls src';
    await sandbox.run('mkdir ignored; for f in ignored/file src/b.txt ~/home; do echo old >$f; done');
    const before = (await sandbox.run(look)).stdout;
    const taken = await sandbox.snapshot();
    expect(taken).toMatchObject({ note: { label: 's1', revision: 1 }, warnings: [] });

    await sandbox.run('rm src/a.txt; for f in ignored/file src/b.txt src/c.txt ~/home; do echo new >$f; done');
    await sandbox.run('sleep 1000 >/dev/null 2>&1 &');
    const other = await fixture.open().open('source');
    expect(await other.snapshots()).toEqual([
      { id: taken.id, name: taken.name, note: taken.note, takenAtMs: expect.any(Number), usage: expect.anything() },
    ]);
    const restored = await other.restoreSnapshot('s1');
    expect(restored.revision?.number).toBe(3);
    for (const one of [other, sandbox]) {
      const looked = await one.run(look);
      expect({ stdout: looked.stdout, stderr: looked.stderr }).toEqual({ stdout: before, stderr: '' });
      expect(looked.recorded.revision).toBeUndefined();
    }
    expect((await sandbox.log()).map(({ subject }) => subject)[0]).toBe('restore: snapshot s1');
    expect(await sandbox.diff()).toContain('+++ b/src/b.txt\n@@ -0,0 +1 @@\n+old');
    expect(await sandbox.diff()).not.toContain('a/src/a.txt');

    await litterbox.setRunState('source', 'stopped');
    await sandbox.restoreSnapshot('s1');
    expect(await stateOf(litterbox, 'source')).toBe('stopped');
    await litterbox.setRunState('source', 'ready');
    expect((await sandbox.run(look)).stdout).toBe(before);
    await sandbox.snapshot({ label: 'second' });
    await sandbox.removeSnapshot('s1');
    expect((await sandbox.snapshots()).map(({ note }) => note?.label)).toEqual(['second']);
    await litterbox.delete('source', { force: true });
    await litterbox.create({ name: 'after' });
    expect(await (await litterbox.open('after')).snapshots()).toEqual([]);
    expect(await litterbox.reconcile()).toEqual([]);
  });
});

describe(`undo, on ${PROVIDER}`, () => {
  it('goes back change by change to the base, in a fork too, and no message pretends to have gone back', async () => {
    await using fixture = new LibraryFixture(FILES);
    const litterbox = fixture.open();
    const source = await litterbox.create({ name: 'source' });
    await source.files.write('src/a.txt', 'one\n');
    await source.run('rm src/a.txt; mkdir new; echo two >new/file', { message: 'restore: revision 0' });
    const sandbox = await source.fork();
    const look = async () => (await sandbox.run('cat src/a.txt new/file 2>/dev/null; :')).stdout;
    expect(await sandbox.undo()).toMatchObject({ target: 1, revision: { number: 3 } });
    expect(await look()).toBe('one\n');
    expect(await sandbox.undo()).toMatchObject({ target: 0, revision: { number: 4 } });
    expect(await look()).toBe('a\n');
    expect(await sandbox.diff()).toBe('');
    await expect(sandbox.undo()).rejects.toMatchObject({ code: 'NOTHING_TO_DO' });
    await sandbox.run('echo more >src/more');
    expect(await sandbox.undo()).toMatchObject({ target: 4 });
    await expect(sandbox.undo()).rejects.toMatchObject({ code: 'NOTHING_TO_DO' });
    expect((await source.run('cat new/file')).stdout).toBe('two\n');
  });
});
