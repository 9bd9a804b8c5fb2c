import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { begin, GitFixture, record } from './git-fixture.ts';

test('a store that lost its record is said and kept, and one that holds no sandbox is removed', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'a\n' });
  const repository = await fixture.control().open(root);
  const id = await begin(repository, 'one');
  await record(repository, id, { 'a.txt': 'ONE\n' });
  const path = join(fixture.state, 'repos', repository.id, 'repository.json');
  rmSync(path);
  const other = fixture.repository({ 'a.txt': 'b\n' });
  for (const place of [root, other])
    await expect(fixture.control().open(place)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining(path),
    });
  expect((await repository.history(id)).tip.number).toBe(1);

  rmSync(join(fixture.state, 'repos', repository.id, 'store.git/refs/litterbox'), { recursive: true });
  expect((await fixture.control().open(other)).id).not.toBe(repository.id);
});
