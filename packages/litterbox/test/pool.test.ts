import { describe, expect, it } from '@jest/globals';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '@litterbox/core';
import { localHost } from '@litterbox/host';
import type { Litterbox } from '../src/index.ts';
import { PROVIDER, provider } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

const TAKEN = `Taking a prepared sandbox (${PROVIDER})`;

async function create(litterbox: Litterbox, name: string, more: Partial<Parameters<Litterbox['create']>[0]> = {}) {
  const said: string[] = [];
  const onProgress = ({ message }: Progress) => void said.push(message);
  const sandbox = await litterbox.create({ name, ...more }, { onProgress });
  return { sandbox, said, isTaken: said.includes(TAKEN) };
}

describe(`prepared sandboxes on ${PROVIDER}`, () => {
  it('a create takes one: it has its name, works, and is like any other', async () => {
    await using fixture = new LibraryFixture({
      'a.txt': 'a\n',
      '.litterbox.toml': 'pool = 2\n[container]\nsetup-command = "echo made >made.txt; echo x >~/cache"\n',
    });
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    expect(await litterbox.fillPool()).toEqual({ made: 2, removed: 0, ready: 2 });
    expect(await litterbox.fillPool()).toEqual({ made: 0, removed: 0, ready: 2 });
    const waiting = await litterbox.pool();
    expect(waiting.map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect(await litterbox.list('all')).toEqual([]);
    const fresh = await create(litterbox, 'fresh', { freshSetup: true });
    expect(fresh.isTaken).toBe(false);

    const other = fixture.open(); // as another program
    const { sandbox, isTaken } = await create(other, 'taken');
    expect({ isTaken, id: sandbox.id }).toEqual({ isTaken: true, id: waiting[0]?.id });
    const ran = await sandbox.run('echo $LITTERBOX_SANDBOX; cat made.txt ~/cache; echo more >more.txt');
    expect(ran.stdout).toBe('taken\nmade\nx\n');
    const subjects = (await sandbox.log()).map(({ number, subject }) => [number, subject.slice(0, 6)]);
    expect(subjects).toEqual([
      [2, 'run: e'],
      [1, 'setup:'],
    ]);
    expect(await sandbox.diff()).toContain('+more');
    expect((await other.list()).map(({ name, state }) => [name, state])).toEqual([
      ['fresh', 'ready'],
      ['taken', 'ready'],
    ]);
    const { baseCommit, baseTree, policy, workdir, assurance } = fresh.sandbox.record;
    expect(sandbox.record).toMatchObject({ baseCommit, baseTree, policy, workdir });
    const controls = (of: typeof assurance) => of?.controls.map((control) => `${control.name} ${control.status}`);
    expect(controls(sandbox.record.assurance)).toEqual(controls(assurance));
    expect((await litterbox.pool()).map(({ id }) => id)).toEqual([waiting[1]?.id]);
    expect(await litterbox.clearPool()).toHaveLength(1);
  });

  it('another base, configuration or option is made as ever; the next fill removes what nobody would take', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': 'pool = 1\n' });
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    await litterbox.fillPool();
    const [first] = await litterbox.pool();
    expect((await create(litterbox, 'option', { environment: { A: 'b' } })).isTaken).toBe(false);
    fixture.git('commit', '-q', '--allow-empty', '-m', 'next');
    const { isTaken, sandbox } = await create(litterbox, 'base');
    expect({ isTaken, baseCommit: sandbox.record.baseCommit }).toEqual({
      isTaken: false,
      baseCommit: fixture.git('rev-parse', 'HEAD'),
    });
    expect((await litterbox.pool()).map(({ id }) => id)).toEqual([first?.id]);
    expect(await litterbox.fillPool()).toEqual({ made: 1, removed: 1, ready: 1 });
    fixture.file('.litterbox.toml', 'pool = 1\n[container]\nenv = { A = "b" }\n');
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    expect((await create(litterbox, 'configuration')).isTaken).toBe(false);
    fixture.file('.litterbox.toml', 'pool = 0\n');
    expect(await litterbox.fillPool()).toEqual({ made: 0, removed: 1, ready: 0 });
    expect(await litterbox.pool()).toEqual([]);
  });

  it('two creates at once get different ones, a third is made; none waits for a fill', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': 'pool = 2\n' });
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    await litterbox.fillPool();
    const programs = ['one', 'two', 'three'].map((name) => ({ name, program: fixture.open() }));
    const made = await Promise.all(programs.map(({ name, program }) => create(program, name)));
    expect(made.map(({ isTaken }) => isTaken).sort()).toEqual([false, true, true]);
    expect(new Set(made.map(({ sandbox }) => sandbox.id)).size).toBe(3);
    for (const { sandbox } of made)
      expect((await sandbox.run('echo $LITTERBOX_SANDBOX; cat a.txt')).stdout).toBe(`${sandbox.name}\na\n`);
    const filling = fixture.open().fillPool();
    expect((await create(litterbox, 'meanwhile')).sandbox.name).toBe('meanwhile');
    await filling;
    await litterbox.clearPool();
  });

  it('one that is gone, or does not run, costs a create its time and nothing else', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': 'pool = 1\n' });
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    await litterbox.fillPool();
    const [pooled] = await litterbox.pool();
    await using machine = provider({
      host: localHost(),
      facts: await localHost().facts(),
      directory: fixture.stateDirectory,
    });
    if (pooled) await machine.remove(pooled.id);
    const { sandbox, said } = await create(litterbox, 'whole');
    expect(said).toContain('The prepared sandbox cannot be used: making another one');
    expect((await sandbox.run('cat a.txt')).stdout).toBe('a\n');
    expect({ pool: await litterbox.pool(), length: (await litterbox.list()).length }).toEqual({ pool: [], length: 1 });
  });

  it("a state file that was lost: prepared ones are nobody's, and go", async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n', '.litterbox.toml': 'pool = 1\n' });
    const before = fixture.open();
    await before.trust((await before.trustStatus()).contentHash);
    await before.fillPool();
    await before[Symbol.asyncDispose]();
    for (const name of readdirSync(fixture.stateDirectory))
      if (name.startsWith('state.db') || name === 'audit.head') rmSync(join(fixture.stateDirectory, name));
    const after = fixture.open();
    expect(await after.reconcile()).toEqual(['Removed 1 prepared sandbox that had no record.']);
    expect({ list: await after.list(), reconcile: await after.reconcile() }).toEqual({ list: [], reconcile: [] });
    expect(readdirSync(join(fixture.stateDirectory, PROVIDER, 'sandboxes'))).toEqual([]);
  });
});
