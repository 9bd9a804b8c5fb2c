import { expect, test } from '@jest/globals';
import type { PersonsGift, PolicyOverrides } from '@litterbox/core';
import { useCaseFixture } from '../../src/index.ts';

/** A repository with these files at its top; what git ignores is `node_modules` and `target`. */
function project(tracked: readonly string[], untracked: readonly string[] = []) {
  const files = [...tracked, 'README'].map((path) => ({ path, content: path }));
  const fixture = useCaseFixture({ files: [{ path: '.gitignore', content: 'node_modules\ntarget\n' }, ...files] });
  for (const path of untracked) fixture.person.write(path, path);
  return fixture;
}

const NPM = ['package.json', 'package-lock.json'];
const CARGO = ['Cargo.toml', 'Cargo.lock'];
const MODULES = 'node_modules/tape/index.js';

async function missing(tracked: readonly string[], untracked: readonly string[] = [], overrides?: PolicyOverrides) {
  await using fixture = project(tracked, untracked);
  const { missingDependencies: found } = await fixture.createSandbox.create({ name: 'a', overrides });
  return found && { directories: found.directories, kinds: found.ecosystems.length };
}

test('a create says which dependencies are not inside, and which of them the working tree has', async () => {
  expect(await missing(NPM)).toEqual({ directories: [], kinds: 1 });
  expect(await missing(NPM, [MODULES])).toEqual({ directories: ['node_modules'], kinds: 1 });
  expect(await missing([...NPM, ...CARGO], [MODULES])).toEqual({ directories: ['node_modules'], kinds: 2 });
  expect(await missing(['package.json'], [MODULES])).toEqual({ directories: ['node_modules'], kinds: 1 });
});

test('FC-43: a create is silent about dependencies that came along, by include or because git has them', async () => {
  const both = [...NPM, ...CARGO];
  const there = [MODULES, 'target/a.o'];
  expect(await missing(both, there, { include: ['node_modules', 'target'] })).toBeUndefined();
  expect(await missing(['go.mod', 'go.sum', 'vendor/a.go'])).toBeUndefined();
  expect(await missing(both, there, { include: ['node_modules'] })).toEqual({ directories: ['target'], kinds: 1 });
});

test('a create is silent where a setup ran, and where nothing shows that there are dependencies', async () => {
  expect(await missing(['go.mod', 'go.sum'], [], { setup: [['true']] })).toBeUndefined();
  for (const files of [[], ['package.json'], ['go.mod'], ['pyproject.toml'], ['Cargo.toml']])
    expect({ files, missing: await missing(files) }).toEqual({ files, missing: undefined });
  expect(await missing([], [MODULES])).toBeUndefined();
});

test('a person who is asked gives their copy, or says no, and nothing is made before they answer', async () => {
  await using fixture = project(NPM, [MODULES]);
  const asked: PersonsGift[] = [];
  const answer = (is: boolean) => async (gift: PersonsGift) => {
    asked.push(gift);
    return await Promise.resolve(is);
  };
  const pending = new Error('not answered yet');
  const waiting = fixture.createSandbox.create({ name: 'a' }, { ask: () => Promise.reject(pending) });
  await expect(waiting).rejects.toBe(pending);
  expect(fixture.left().records).toEqual([]);
  const refused = await fixture.createSandbox.create({ name: 'a' }, { ask: answer(false) });
  expect(refused.missingDependencies?.directories).toEqual(['node_modules']);
  expect(fixture.look('a', MODULES)).toBeUndefined();
  const { record, missingDependencies: none } = await fixture.createSandbox.create(
    { name: 'b' },
    { ask: answer(true) },
  );
  expect({ include: record.policy.include, none }).toEqual({ include: ['node_modules'], none: undefined });
  expect(fixture.look('b', MODULES)).toBe(MODULES);
  expect(asked.map(({ key }) => key)).toEqual(['include node_modules', 'include node_modules']);
  expect(asked[1]?.question).toMatch(/node_modules/);
});

test('nobody is asked for dependencies that the working tree does not have', async () => {
  await using fixture = project(NPM);
  const created = await fixture.createSandbox.create({ name: 'a' }, { ask: () => Promise.reject(new Error('asked')) });
  expect(created.missingDependencies?.directories).toEqual([]);
});
