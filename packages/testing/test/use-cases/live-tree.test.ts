import { expect, test } from '@jest/globals';
import type { SandboxSpec } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { made } from '../made.ts';

const CONFIG = '[overlayfs]\nlower = "live"\n';
const FILES = [
  { path: 'README', content: 'read me\n' },
  { path: 'dir/a', content: 'a\n' },
  { path: 'dir/b', content: 'b\n' },
  { path: '.gitignore', content: 'cache\n.env\n' },
];

/** A world whose sandboxes stand on the working tree: they hold a copy in memory, and say that it is none. */
function liveFixture(more: UseCaseFixtureOptions = {}, specs: SandboxSpec[] = []): UseCaseFixture {
  return useCaseFixture({
    files: FILES,
    config: CONFIG,
    provider: (inner) => ({
      traits: { ...inner.traits, liveStrategies: ['memory'] },
      create: async (spec, call) => {
        specs.push(spec);
        return await inner.create(spec, call);
      },
    }),
    runtime: { live: '/home/person/project' },
    ...more,
  });
}

const run = (fixture: UseCaseFixture, command: string) => fixture.runCommand.run({ sandbox: 'a', command });

test('it begins with what the working tree holds, and the provider is told what of it to hide', async () => {
  const specs: SandboxSpec[] = [];
  await using fixture = liveFixture({}, specs);
  fixture.person.write('new', 'n\n');
  fixture.person.write('.env', 'secret\n');
  const { policy, baseTree } = await made(fixture);
  expect(policy.lower).toBe('live');
  expect([...fixture.person.treeOf(baseTree).keys()].sort()).toEqual([
    '.gitignore',
    '.litterbox.toml',
    'README',
    'dir/a',
    'dir/b',
    'new',
  ]);
  const [{ live } = {}] = specs;
  expect(live).toEqual({ directory: '/home/person/project', hiddenPaths: [], shownPaths: [] });
});

test('what looks like a secret is seen when it is committed, and refused when it is neither that nor ignored', async () => {
  const specs: SandboxSpec[] = [];
  const files = [...FILES, { path: 'test/.aws/config', content: 'fake\n' }];
  await using fixture = liveFixture({ files }, specs);
  await made(fixture);
  expect(specs[0]?.live?.shownPaths).toEqual(['test/.aws', 'test/.aws/config']);
  fixture.person.write('deploy/id_rsa', 'key\n');
  await expect(made(fixture, 'b')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  await expect(made(fixture, 'b')).rejects.toThrow(/deploy\/id_rsa/);
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('another base than the working tree is refused', async () => {
  await using fixture = liveFixture();
  await expect(made(fixture, 'a', { from: { type: 'head' } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await made(fixture, 'a', { from: { type: 'worktree' } });
  await made(fixture, 'b', { from: { type: 'head' }, overrides: { lower: 'frozen' } });
});

test.each([
  ['changed', (fixture: UseCaseFixture) => fixture.person.write('README', 'edited\n'), 'README'],
  ['new', (fixture: UseCaseFixture) => fixture.person.write('more', 'x\n'), 'more'],
  ['gone', (fixture: UseCaseFixture) => fixture.person.work.delete('dir/a'), 'dir/a'],
])('a file that is %s stops it before anything runs, and is named', async (_what, change, path) => {
  await using fixture = liveFixture();
  await made(fixture);
  await run(fixture, 'echo work >work');
  change(fixture);
  const call = run(fixture, 'echo again >again');
  await expect(call).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED', details: { facts: { paths: [path] } } });
  expect(fixture.look('a', 'again')).toBeUndefined();
  const look = fixture.readLines.read({ sandbox: 'a', path: 'README', offset: 0, limit: 1 });
  await expect(look).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
});

test('a file that is ignored may change, and one that is put back goes on', async () => {
  await using fixture = liveFixture();
  await made(fixture);
  fixture.person.write('cache', 'x\n');
  await run(fixture, 'true');
  fixture.person.write('README', 'edited\n');
  await expect(run(fixture, 'true')).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
  fixture.person.write('README', 'read me\n');
  await run(fixture, 'echo work >work');
  expect(fixture.subjects('a')).toEqual(['run: echo work >work']);
});

test('what a command wrote while the tree changed is recorded, and told after that', async () => {
  await using fixture = liveFixture({
    programs: {
      edit: async () => {
        fixture.person.write('README', 'edited\n');
        return 0;
      },
    },
  });
  await made(fixture);
  const call = run(fixture, 'edit && echo work >work');
  await expect(call).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
  await expect(call).rejects.toThrow(/what it changed is recorded/);
  expect(fixture.subjects('a')).toEqual(['run: edit && echo work >work']);
});

test('a file that the person deletes meanwhile is no deletion of the agent', async () => {
  await using fixture = liveFixture({
    programs: {
      // Through the overlay the agent's directory shows what the person's holds: the machine in memory is told.
      persons: async () => {
        fixture.person.work.delete('dir/b');
        fixture.person.work.delete('README');
        return 0;
      },
    },
  });
  await made(fixture);
  const call = run(fixture, 'persons && rm README dir/b dir/a && echo work >dir/work');
  await expect(call).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
  const { id } = fixture.shelves.records.records[0] ?? {};
  const repository = await fixture.openRepository.open();
  const changes = id ? await repository.changes(id) : [];
  expect(changes.map(({ path, status }) => `${status} ${path}`).sort()).toEqual(['added dir/work', 'deleted dir/a']);
});

test('what is recorded can be milestoned and merged, although the tree has changed', async () => {
  await using fixture = liveFixture();
  await made(fixture);
  await run(fixture, 'echo work >work');
  fixture.person.write('dir/a', 'edited\n');
  fixture.scribble('a', 'late', 'x\n');
  await fixture.cutMilestone.cut('a', 'all of it');
  expect(fixture.subjects('a')).toEqual(['run: echo work >work', 'recovered: changes found before this call']);
});

test('a recovery needs no force then, keeps what is recorded and stands on a frozen tree', async () => {
  const specs: SandboxSpec[] = [];
  let isLive = true;
  await using fixture = liveFixture({ runtime: () => (isLive ? { live: '/home/person/project' } : {}) }, specs);
  await made(fixture);
  await run(fixture, 'echo work >work');
  await expect(fixture.recoverSandbox.recover('a', {})).rejects.toMatchObject({ code: 'CONFLICT' });
  fixture.person.write('README', 'edited\n');
  isLive = false;
  const { policy } = await fixture.recoverSandbox.recover('a', {});
  expect(policy.lower).toBeUndefined();
  expect(specs.at(-1)?.live).toBeUndefined();
  expect(fixture.look('a', 'work')).toBe('work\n');
  expect(fixture.look('a', 'README')).toBe('read me\n');
  await run(fixture, 'true');
});

test('a fork of one whose tree has changed is refused', async () => {
  await using fixture = liveFixture();
  await made(fixture);
  fixture.person.write('README', 'edited\n');
  await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toMatchObject({ code: 'LIVE_TREE_CHANGED' });
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('a setup runs for each: what one left on the working tree is kept for nobody', async () => {
  const specs: SandboxSpec[] = [];
  const config = `${CONFIG}[container]\nsetup-command = ["sh", "-c", "echo x >made"]\n`;
  await using fixture = liveFixture({ config }, specs);
  await made(fixture);
  await made(fixture, 'b');
  expect(specs.map(({ prepared }) => prepared)).toEqual([undefined, undefined]);
  expect(fixture.look('b', 'made')).toBe('x\n');
});

test('what comes along by name is there already, and is refused beside it', async () => {
  await using fixture = liveFixture();
  fixture.person.write('cache', 'c\n');
  await expect(fixture.createSandbox.create({ name: 'a', overrides: { include: ['cache'] } })).rejects.toMatchObject({
    code: 'CONFIG_VALUE',
  });
});

test('what a base would be without because it looks like a secret is refused: the working tree shows it', async () => {
  await using fixture = liveFixture();
  fixture.person.write('notes', `-----BEGIN OPENSSH PRIVATE KEY-----\n${'b3BlbnNzaC1rZXktdjEAAAAA\n'.repeat(4)}`);
  await expect(made(fixture)).rejects.toMatchObject({ code: 'PERMISSION_DENIED', details: { facts: { total: 1 } } });
});
