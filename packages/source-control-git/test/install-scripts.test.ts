import { describe, expect, test } from '@jest/globals';
import { begin, type Files, GitFixture, record } from './git-fixture.ts';

const REASON = 'is run by a script of package.json when packages are installed';
const TOP = {
  scripts: {
    prepare: 'npm run  gen && tsx "./tools/made"',
    gen: 'node --import=./hooks.mjs scripts/gen.cjs; sh steps/*',
    pregen: 'sh before.sh',
    test: 'node scripts/tested.js',
    postinstall: 'node linked.js',
    install: 7,
  },
};
const INNER = { scripts: { preinstall: 'node ../../scripts/shared.js; node .' } };
const BASE = {
  'package.json': JSON.stringify(TOP),
  'packages/a/package.json': JSON.stringify(INNER),
  'node_modules/x/package.json': JSON.stringify({ scripts: { install: 'node ../../src/left.js' } }),
  'broken/package.json': '{ "scripts": { "install": "node left.js"',
};
const RUN = [
  'scripts/gen.cjs',
  'scripts/shared.js',
  'tools/made/index.ts',
  'steps/one',
  'before.sh',
  'hooks.mjs',
  'packages/a/index.js',
  'src/real.js',
];
const LEFT = [
  'scripts/tested.js',
  'src/left.js',
  'broken/left.js',
  'steps/deep/two',
  'src/gen.cjs',
  'packages/b/index.js',
];

describe('AX169: code that an install runs', () => {
  test('FC-515: is risky by the scripts that name it, though no package.json changed', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository(BASE));
    const id = await begin(repository);
    const work = Object.fromEntries([...RUN, ...LEFT].map((path) => [path, 'x\n']));
    const linked: Files = { 'linked.js': { type: 'symlink', target: 'src/real.js' } };
    await record(repository, id, { ...BASE, ...linked });
    await record(repository, id, { ...BASE, ...linked, ...work });
    const { risky } = await repository.plan(id, { integration: 'merge', arguments: [] });
    const named = risky.filter(({ reasons }) => reasons.includes(REASON)).map(({ path }) => path);
    expect(named.toSorted()).toEqual(['linked.js', ...RUN].toSorted());
  });

  test('a package whose scripts are too long to be read makes all below it risky', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'a.txt': 'a\n' }));
    const id = await begin(repository);
    const words = Array.from({ length: 20_000 }, (_, word) => word.toString(36)).join(' ');
    const long = JSON.stringify({ scripts: { postinstall: words } });
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, number) => [`p${number}/package.json`, long]));
    await record(repository, id, { 'a.txt': 'a\n', ...many, 'p7/deep/x.txt': 'x\n', 'y.txt': 'y\n' });
    const { risky } = await repository.plan(id, { integration: 'merge', arguments: [] });
    const named = risky.filter(({ reasons }) => reasons.includes(REASON)).map(({ path }) => path);
    expect(named.toSorted()).toEqual([...Object.keys(many), 'p7/deep/x.txt'].toSorted());
  });
});
