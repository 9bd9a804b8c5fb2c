import { describe, expect, test } from '@jest/globals';
import { type IntegrationPlan, SandboxId, type SourceRepository } from '@litterbox/core/provider';
import { type Files, begin, GitFixture, put, record, slug } from './git-fixture.ts';

const BASE = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' };
const P = { ...BASE, 'a.txt': 'one\nTWO by p\nthree\n' };
const C = { ...P, 'a.txt': 'one\nTWO by c\nthree\n', 'c.txt': 'c\n' };
const D = { ...C, 'a.txt': 'one\nTWO by d\nthree\n', 'd.txt': 'd\n' };

class FamilyFixture extends GitFixture {
  readonly root = this.repository(BASE);
  readonly #opened = this.open(this.root);

  get opened(): Promise<SourceRepository> {
    return this.#opened;
  }

  async begin(files: Files): Promise<SandboxId> {
    const repository = await this.#opened;
    const id = await begin(repository, 'p');
    await record(repository, id, files);
    return id;
  }

  async fork(source: SandboxId, name: string, files: Files): Promise<SandboxId> {
    const repository = await this.#opened;
    const id = SandboxId.make();
    await repository.fork(source, { id, slug: slug(name) });
    await record(repository, id, files);
    return id;
  }

  /** Says what conflicted, and takes the sandbox away as a merge does. */
  async merge(id: SandboxId, ...args: string[]): Promise<IntegrationPlan> {
    const repository = await this.#opened;
    const plan = await repository.plan(id, { integration: 'merge', arguments: args });
    const { conflicts } = await repository.execute(plan, { autostash: false });
    expect(conflicts).toEqual([]);
    await repository.remove(id);
    return plan;
  }

  /** Takes the files without a commit, which the person makes. */
  async apply(id: SandboxId, message = 'Taken by hand'): Promise<void> {
    const repository = await this.#opened;
    const plan = await repository.plan(id, { integration: 'apply', arguments: [] });
    await repository.execute(plan, { autostash: false });
    this.git(this.root, 'commit', '-qm', message);
  }

  commit(path: string, content: string): void {
    put(this.root, path, content);
    this.git(this.root, 'add', '-A');
    this.git(this.root, 'commit', '-qm', 'meanwhile');
  }

  show(path: string): string {
    return this.git(this.root, 'show', `HEAD:${path}`);
  }

  subjects(): string[] {
    return this.git(this.root, 'log', '--format=%s').trimEnd().split('\n');
  }
}

describe('FC-33: a fork is merged after the sandbox that it was made from', () => {
  test('as a branch that stands on another one, by a fast-forward or a merge commit', async () => {
    for (const hasMoved of [false, true]) {
      await using fixture = new FamilyFixture();
      const p = await fixture.begin(P);
      const c = await fixture.fork(p, 'c', C);
      if (hasMoved) fixture.commit('b.txt', 'mine\n');
      await fixture.merge(p, '-m', 'p');
      await fixture.merge(c, '-m', 'c');
      expect(fixture.show('a.txt')).toBe(C['a.txt']);
      expect(fixture.show('b.txt')).toBe(hasMoved ? 'mine\n' : 'b\n');
      if (!hasMoved) expect(fixture.subjects()).toEqual(['c', 'p', 'first']);
    }
  });

  test('with milestones in the one, in the other, and in both', async () => {
    for (const [ofP, ofC] of [
      [true, false],
      [false, true],
      [true, true],
    ]) {
      await using fixture = new FamilyFixture();
      const repository = await fixture.opened;
      const p = await fixture.begin(P);
      if (ofP) await repository.milestone(p, 'Milestone of p');
      const c = await fixture.fork(p, 'c', C);
      if (ofC) await repository.milestone(c, 'Milestone of c');
      await record(repository, c, { ...C, 'c.txt': 'more\n' });
      await fixture.merge(p);
      await fixture.merge(c);
      expect({ a: fixture.show('a.txt'), c: fixture.show('c.txt') }).toEqual({ a: C['a.txt'], c: 'more\n' });
      if (ofC) expect(fixture.subjects()).toContain('Milestone of c');
      expect(fixture.subjects().filter((subject) => subject === 'Milestone of p')).toHaveLength(ofP ? 1 : 0);
    }
  });

  test('when the first one went on by itself', async () => {
    await using fixture = new FamilyFixture();
    const p = await fixture.begin(P);
    const c = await fixture.fork(p, 'c', C);
    await record(await fixture.opened, p, { ...P, 'p.txt': 'p\n' });
    await fixture.merge(p);
    await fixture.merge(c);
    expect({ a: fixture.show('a.txt'), p: fixture.show('p.txt') }).toEqual({ a: C['a.txt'], p: 'p\n' });
  });

  test('a fork of a fork, in every order', async () => {
    for (const order of ['pcd', 'dcp', 'cpd']) {
      await using fixture = new FamilyFixture();
      const p = await fixture.begin(P);
      const c = await fixture.fork(p, 'c', C);
      const d = await fixture.fork(c, 'd', D);
      for (const name of order) await fixture.merge({ p, c, d }[name] as SandboxId);
      expect(fixture.show('a.txt')).toBe(D['a.txt']);
    }
  });

  test('which was applied, or merged with --squash, and committed by the person', async () => {
    for (const hasMoved of [false, true]) {
      await using fixture = new FamilyFixture();
      const p = await fixture.begin(P);
      const c = await fixture.fork(p, 'c', C);
      const d = await fixture.fork(c, 'd', D);
      if (hasMoved) fixture.commit('b.txt', 'mine\n');
      await fixture.apply(p);
      if (hasMoved) fixture.commit('other.txt', 'mine\n');
      await fixture.merge(c, '--squash');
      fixture.git(fixture.root, 'commit', '-qm', 'Squashed by hand');
      await fixture.merge(d, '-m', 'd');
      expect(fixture.show('a.txt')).toBe(D['a.txt']);
      if (!hasMoved) expect(fixture.subjects()).toEqual(['d', 'Squashed by hand', 'Taken by hand', 'first']);
    }
  });

  test('which had gone on when it was applied', async () => {
    await using fixture = new FamilyFixture();
    const repository = await fixture.opened;
    const p = await fixture.begin(P);
    const c = await fixture.fork(p, 'c', { ...P, 'c.txt': 'c\n' });
    await record(repository, p, { ...P, 'a.txt': 'one\nTWO by p once more\nthree\n' });
    await fixture.apply(p);
    await repository.remove(p);
    await fixture.merge(c);
    expect({ a: fixture.show('a.txt'), c: fixture.show('c.txt') }).toEqual({
      a: 'one\nTWO by p once more\nthree\n',
      c: 'c\n',
    });
  });
});

test('FC-33: a sandbox that was applied and goes on stands on the commit that the person made of it', async () => {
  await using fixture = new FamilyFixture();
  const p = await fixture.begin(P);
  await fixture.apply(p);
  await record(await fixture.opened, p, C);
  await fixture.merge(p, '-m', 'the rest');
  expect(fixture.show('a.txt')).toBe(C['a.txt']);
  expect(fixture.subjects()).toEqual(['the rest', 'Taken by hand', 'first']);
});

test('FC-33: what was applied and thrown away is brought in again', async () => {
  await using fixture = new FamilyFixture();
  const repository = await fixture.opened;
  const p = await fixture.begin(P);
  await repository.execute(await repository.plan(p, { integration: 'apply', arguments: [] }), { autostash: false });
  fixture.git(fixture.root, 'reset', '-q', '--hard');
  await record(repository, p, { ...P, 'p.txt': 'p\n' });
  await fixture.merge(p);
  expect({ a: fixture.show('a.txt'), p: fixture.show('p.txt') }).toEqual({ a: P['a.txt'], p: 'p\n' });
});
