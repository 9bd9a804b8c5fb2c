import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { personsPath } from '../src/person/persons-path.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-path-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('keeps what the person has in PATH, and nothing of the repository', () => {
  const [repository, other] = [join(directory, 'repository'), join(directory, 'other/node_modules/.bin')];
  for (const path of [join(repository, 'bin'), other]) mkdirSync(path, { recursive: true });
  symlinkSync(join(repository, 'bin'), join(directory, 'link'));
  const unwanted = ['', '.', 'bin', repository, join(repository, 'bin'), join(directory, 'link'), other, '/nowhere'];
  expect(personsPath([...unwanted, '/usr/bin', directory].join(':'), repository)).toBe(`/usr/bin:${directory}`);
  expect(personsPath(undefined, repository)).toBe('');
  // Whoever stands in a subdirectory is in the same repository.
  for (const path of ['.git', 'packages/one']) mkdirSync(join(repository, path), { recursive: true });
  expect(personsPath(`${join(repository, 'bin')}:/usr/bin`, join(repository, 'packages/one'))).toBe('/usr/bin');
});
