import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { type ChangedPath } from '@litterbox/core/provider';
import { TAR_END, tarHeader, tarPadding } from '../src/objects/tar-writer.ts';
import { begin, GitFixture, request, tarOf } from './git-fixture.ts';

const MIB = 1024 * 1024;

function residentBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

/** The most this process holds while `body` runs, beyond what it held before. */
async function growth(body: () => Promise<void>): Promise<number> {
  const before = residentBytes();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
  await body();
  clearInterval(watch);
  return Math.max(most, process.memoryUsage().rss) - before;
}

test('80,000 changed files and as many ignored ones are recorded in bounded memory', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1', '.gitignore': '*.log\nskip/\n' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const child = new URL('load-child.ts', import.meta.url).pathname;
  // A small heap makes the limit one of what is needed, not of when V8 cares to collect.
  const flags = [
    '--no-warnings',
    '--max-old-space-size=100',
    '--max-semi-space-size=2',
    '--conditions=@litterbox/source',
  ];
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, child, fixture.state, root, id, '80000'], {
    env: { PATH: '/usr/bin:/bin', HOME: fixture.home },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const { changedFiles, grownBytes } = JSON.parse(stdout);
  expect(changedFiles).toBe(80_000);
  expect(grownBytes / MIB).toBeLessThan(150);
  fixture.git(fixture.storeOf(repository), '-c', 'safe.bareRepository=all', 'fsck', '--strict', '--full');
  expect((await repository.changes(id)).length).toBe(80_000);
});

test('a file of 300 MB streams both ways without being held', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ a: '1' }));
  const id = await begin(repository);
  const sizeBytes = 300 * MIB;
  const chunk = Buffer.alloc(MIB);
  for (let index = 0; index < chunk.length; index++) chunk[index] = (index * index) % 251;
  const grown = await growth(async () => {
    const result = await repository.record(id, {
      changes: (async function* (): AsyncGenerator<ChangedPath> {
        yield { type: 'file', path: 'big', sizeBytes, executable: false };
      })(),
      contents: () =>
        ReadableStream.from(
          (async function* () {
            yield tarHeader({ type: 'file', name: 'big', mode: 0o644, sizeBytes });
            for (let sent = 0; sent < sizeBytes; sent += chunk.length) yield chunk;
            yield tarPadding(sizeBytes);
            yield TAR_END;
          })(),
        ),
      message: { subject: 'big', trailers: [] },
    });
    let total = 0;
    for await (const bytes of repository.tree(result.revision?.tree as never)) total += bytes.length;
    expect(total).toBeGreaterThan(sizeBytes);
  });
  expect(grown / MIB).toBeLessThan(200);
});

test('AX126: more files than a revision takes are refused before one of them is asked for, with where most of them are', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ '.gitignore': 'built/\n', 'a.txt': 'a' }));
  const id = await begin(repository);
  const { tip } = await repository.history(id);
  const MANY = 250_001;
  const asked: string[] = [];
  const recorded = (top: string) =>
    repository.record(id, {
      ...request(
        { 'b.txt': 'b' },
        (function* (): Generator<ChangedPath> {
          for (let n = 0; n < MANY; n++) yield { type: 'file', path: `${top}/${n}`, sizeBytes: 1, executable: false };
          yield { type: 'file', path: 'b.txt', sizeBytes: 1, executable: false };
        })(),
      ),
      contents: (paths) =>
        tarOf(
          { 'b.txt': 'b' },
          (async function* () {
            for await (const path of paths) {
              asked.push(path);
              yield path;
            }
          })(),
        ),
    });
  await expect(recorded('node_modules')).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: expect.stringMatching(
      /^250002 files have changed that no rule ignores, 250001 of them in node_modules\/; /,
    ),
    details: { hint: expect.stringContaining('.gitignore'), facts: { files: MANY + 1, maxFiles: 250_000 } },
  });
  expect({ asked, tip: (await repository.history(id)).tip }).toEqual({ asked: [], tip });
  // As many that are ignored are fine.
  expect((await recorded('built')).changedFiles).toBe(1);
  expect(asked).toEqual(['b.txt']);
});
