import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { GitFixture, put } from './git-fixture.ts';

const NANOSECONDS = 1_000_000_000n;
const DAY = 1_600_000_000;

/** A repository whose files are old, but for one. */
function aged(fixture: GitFixture, files: Readonly<Record<string, string>>): string {
  const root = fixture.repository(files);
  for (const path of Object.keys(files)) utimesSync(join(root, path), DAY, DAY);
  fixture.git(root, 'update-index', '-q', '--refresh');
  return root;
}

test('files that are the same in the work tree have its times, others none, and old ones are not told', async () => {
  await using fixture = new GitFixture();
  const root = aged(fixture, {
    old: '1',
    young: '1',
    touched: '1',
    edited: '1',
    gone: '1',
    linked: '1',
    'dir/"q': '1',
  });
  utimesSync(join(root, 'young'), DAY + 10.25, DAY + 10.25);
  utimesSync(join(root, 'touched'), DAY + 20, DAY + 20); // git's index does not know that it is the same
  put(root, 'edited', '2');
  for (const path of ['gone', 'linked']) unlinkSync(join(root, path));
  symlinkSync('old', join(root, 'linked'));
  const repository = await fixture.open(root);
  const times = await repository.workTimes((await repository.base({ type: 'head' })).tree, DAY + 5);
  const at = (seconds: number) => BigInt(seconds) * NANOSECONDS;
  expect(Object.fromEntries(times)).toEqual({
    young: at(DAY + 10) + NANOSECONDS / 4n,
    touched: at(DAY + 20),
    edited: undefined,
    gone: undefined,
    linked: undefined,
  });
});

test('of the uncommitted work tree every file is the same, new ones too', async () => {
  await using fixture = new GitFixture();
  const root = aged(fixture, { a: '1', b: '1' });
  put(root, 'a', '2');
  put(root, 'new', '1');
  for (const path of ['a', 'new']) utimesSync(join(root, path), DAY + 10, DAY + 10);
  const repository = await fixture.open(root);
  const { tree } = await repository.base({ type: 'worktree' });
  const time = BigInt(DAY + 10) * NANOSECONDS;
  expect(Object.fromEntries(await repository.workTimes(tree, DAY + 5))).toEqual({ a: time, new: time });
});

test('a tree with times of its own holds those files alone, to the nanosecond for GNU tar', async () => {
  await using fixture = new GitFixture();
  const long = `${'d'.repeat(120)}/${'f'.repeat(120)}`;
  const repository = await fixture.open(fixture.repository({ a: '1', 'dir/b': '2', [long]: '3' }));
  const { tree } = await repository.base({ type: 'head' });
  const time = BigInt(DAY) * NANOSECONDS + 123_456_789n;
  const times = new Map([
    ['dir/b', time],
    [long, time],
  ]);
  const parts: Uint8Array[] = [];
  for await (const part of repository.tree(tree, { times })) parts.push(part);
  const directory = mkdtempSync(join(tmpdir(), 'times-'));
  try {
    execFileSync('tar', ['-x', '-f', '-'], { cwd: directory, input: Buffer.concat(parts) });
    const look = ['.', '-type', 'f', '-printf', '%P %T@\\n'];
    const found = execFileSync('find', look, { cwd: directory, encoding: 'utf8' }).trim().split('\n').sort();
    expect(found).toEqual([`${long} ${DAY}.1234567890`, `dir/b ${DAY}.1234567890`]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
