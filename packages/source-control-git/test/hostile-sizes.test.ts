import { describe, expect, jest, test } from '@jest/globals';
import type { ChangedPath, FileChange, ObjectId } from '@litterbox/core/provider';
import { riskyChanges } from '../src/plan/risky-changes.ts';
import { readBlobs } from '../src/store/read-blobs.ts';
import type { Store } from '../src/store/store.ts';
import { begin, type Files, GitFixture, put, record, request, text } from './git-fixture.ts';

const MERGE = { integration: 'merge', arguments: [] } as const;

/** Processor time of this program, which other programs of the machine do not lengthen. */
async function secondsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

describe('AX220: an agent makes many, long and deep', () => {
  test('files of which every line holds what nobody sees', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'old.txt': '\u200b\n', 'same.txt': '\u200b\n' }));
    const id = await begin(repository);
    const lines = '\u200b\n'.repeat(250_000);
    const many = Array.from({ length: 10 }, (_, number) => [`f${number}.txt`, `${number}\n${lines}`] as const);
    await record(repository, id, {
      'same.txt': `b\n${lines}`,
      'old.txt': `${lines}b\u200b\n`,
      ...Object.fromEntries(many),
    });
    const seconds = await secondsOf(async () => {
      const { risky } = await repository.plan(id, MERGE);
      expect(risky.map(({ path }) => path).toSorted()).toEqual([...many.map(([path]) => path), 'old.txt'].toSorted());
    });
    expect(seconds).toBeLessThan(2);
  });

  test('a path of two thousand directories', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'a.txt': 'a\n', 'gone/b.txt': 'b\n' }));
    const id = await begin(repository);
    const files: Files = {};
    for (let number = 0; number < 40; number++) files[`${'d/'.repeat(1880)}${number}`] = 'x';
    const changes = Object.keys(files).map(
      (path): ChangedPath => ({ type: 'file', path, sizeBytes: 1, executable: false }),
    );
    changes.push({ type: 'directory', path: 'gone', children: [] });
    const recording = await secondsOf(async () => await repository.record(id, request(files, changes)));
    expect(recording).toBeLessThan(3);
    const plan = await repository.plan(id, { ...MERGE, integration: 'apply', paths: ['d'] });
    expect(plan.changes).toHaveLength(40);
  });

  test('directories that git takes for repositories', async () => {
    const names = ['HEAD', 'config'].flatMap((name) => Array.from({ length: 20_000 }, (_, at) => `d${at}/${name}`));
    const changes = [...names, 'e/HEAD'].map(
      (path): FileChange => ({ path, status: 'added', executable: false, binary: false }),
    );
    const facts = changes.map((change) => ({
      change,
      mode: '100644',
      sizeBytes: 1,
      wasExecutable: false,
      isShown: true,
    }));
    const setting = { changes, allPaths: new Set([...names, 'e/HEAD']), namedElsewhere: () => undefined };
    const seconds = await secondsOf(() => {
      const risky = riskyChanges(facts, { ...setting, withUnseen: new Set<string>() });
      const reason = 'lies in a directory that git takes for a repository';
      expect(risky.filter(({ reasons }) => reasons.includes(reason))).toHaveLength(names.length);
    });
    expect(seconds).toBeLessThan(3);
  });

  test('commits on the way, of which each has a file that the next one lacks', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'a.txt': 'a\n' }));
    const id = await begin(repository);
    for (let number = 0; number < 35; number++) {
      await record(repository, id, { 'a.txt': `${number}\n`, [`${number}.txt`]: 'x\n' });
      await repository.milestone(id, 'a step');
    }
    const { passing, risky } = await repository.plan(id, MERGE);
    expect(passing).toHaveLength(34);
    expect(risky.map(({ path }) => path)).toEqual(['32.txt', '33.txt']);
    expect(risky[0]?.reasons[0]).toMatch(/^was not looked into/);
  });

  test('a content that comes in many pieces is put together once', async () => {
    const [size, oid] = [2 ** 20, 'a'.repeat(40) as ObjectId];
    const output = Buffer.concat([Buffer.from(`${oid} blob ${size}\n`), Buffer.alloc(size + 1, 'x')]);
    const stream = async function* () {
      for (let at = 0; at < output.length; at += 1000) yield output.subarray(at, at + 1000);
      yield Buffer.from(`${oid} blob 1\nx\n`);
    };
    const concat = jest.spyOn(Buffer, 'concat');
    try {
      const sizes: number[] = [];
      for await (const { bytes } of readBlobs({ stream } as unknown as Store, [oid], undefined))
        sizes.push(bytes.length);
      expect(sizes).toEqual([size, 1]);
      const copied = concat.mock.calls.flatMap(([pieces]) => pieces).reduce((sum, { length }) => sum + length, 0);
      expect(copied).toBeLessThan(2 * output.length);
    } finally {
      concat.mockRestore();
    }
  });
});

test('AX221: attributes too long to be read say nothing, and the plan is made', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ 'a.txt': 'a\n' }));
  const id = await begin(repository);
  const files = { 'a.txt': 'a\n', 'b.bin': 'b\n', 'c.bin': 'c\n' };
  await record(repository, id, { ...files, '.gitattributes': '*.bin filter=lfs\n' });
  const sizes = async () => (await repository.plan(id, MERGE)).changes.map(({ largeFileBytes }) => largeFileBytes);
  expect(await sizes()).toEqual([undefined, 2, 2]);
  const long = `# ${'x'.repeat(1000)}\n`.repeat(5000);
  await record(repository, id, { ...files, '.gitattributes': '*.bin filter=lfs\n', 'z/.gitattributes': long });
  expect(await sizes()).toEqual([undefined, undefined, undefined, undefined]);
  await record(repository, id, { ...files, '.gitattributes': `*.bin filter=lfs\n${long}` });
  expect(await sizes()).toEqual([undefined, undefined, undefined]);
});

describe('AX224: an agent makes a file of so many lines that git takes eighty bytes for each byte of it', () => {
  const long = (first: string, last: string) => `${first}\n${'x\n'.repeat(4_300_000)}${last}\n`;

  test('no line of it is counted or shown, and of another one they are', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'long.txt': long('a', 'z'), 'short.txt': 'a\n' }));
    const id = await begin(repository);
    await record(repository, id, { 'long.txt': long('b', 'z'), 'new.txt': '\n'.repeat(8_400_000), 'short.txt': 'b\n' });
    const changes = await repository.changes(id);
    expect(new Map(changes.map(({ path, binary, addedLines }) => [path, { binary, addedLines }]))).toEqual(
      new Map([
        ['long.txt', { binary: true }],
        ['new.txt', { binary: true }],
        ['short.txt', { binary: false, addedLines: 1 }],
      ]),
    );
    const shown = await text(repository.diff(id));
    expect(shown).toContain('Binary files a/long.txt and b/long.txt differ');
    expect(shown).toContain('Binary files /dev/null and b/new.txt differ');
    expect(shown).toContain('-a\n+b\n');
    const [works] = (await repository.works([id])).values();
    expect(works).toMatchObject({ files: 3, addedLines: 1 });
  });

  test('what git takes too long to count is told without lines', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'a.txt': 'a\n' }));
    const id = await begin(repository);
    await record(repository, id, { 'a.txt': 'b\n', 'b.txt': 'b\n' });
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    try {
      expect(await repository.works([id])).toEqual(new Map());
      const changes = await repository.changes(id);
      expect(changes.map(({ path, addedLines }) => [path, addedLines])).toEqual([
        ['a.txt', undefined],
        ['b.txt', undefined],
      ]);
    } finally {
      timeout.mockRestore();
    }
    expect(await repository.changes(id)).toMatchObject([{ addedLines: 1 }, { addedLines: 1 }]);
    expect((await repository.works([id])).get(id)).toMatchObject({ files: 2, addedLines: 2 });
  });

  test('lines of it are not merged, and those of another one are', async () => {
    await using fixture = new GitFixture();
    const short = (first: string, last: string) => `${first}\n${'x\n'.repeat(9)}${last}\n`;
    const files = (first: string, last: string) => ({ 'long.txt': long(first, last), 'short.txt': short(first, last) });
    const root = fixture.repository(files('a', 'z'));
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, files('b', 'z'));
    for (const [path, content] of Object.entries(files('a', 'y'))) put(root, path, content);
    fixture.git(root, 'commit', '-qam', 'mine');
    expect((await repository.plan(id, MERGE)).conflicts).toEqual(['long.txt']);
  });
});
