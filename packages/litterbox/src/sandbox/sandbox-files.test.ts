import { expect, test } from '@jest/globals';
import { inMemory } from '../../test/in-memory.ts';

test('files are written, looked at and removed, each call as one revision', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  const { files } = sandbox;
  await files.write('src/a.txt', 'ü\n', { message: 'Add a' });
  expect(await files.readText('src/a.txt')).toBe('ü\n');
  expect(await files.read('src/a.txt')).toEqual(Uint8Array.of(0xc3, 0xbc, 0x0a));
  expect(await files.stat('src/a.txt')).toMatchObject({ type: 'file', isLink: false, sizeBytes: 3 });
  expect((await files.list()).map(({ path, type }) => `${type} ${path}`)).toEqual(['file README', 'directory src']);
  await files.copy('src/a.txt', 'src/b.txt');
  await sandbox.run('ln -s nowhere /tmp/link');
  expect(await files.exists('/tmp/link')).toBe(true);
  await files.mkdir('deep/er', { recursive: true });
  expect((await files.list('src')).length).toBe(2);
  await files.remove('src', { recursive: true });
  expect(await Promise.all(['src', 'src/a.txt', 'README/x', 'deep/er'].map((path) => files.exists(path)))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  await expect(files.stat('src')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(files.mkdir('none/here')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(files.exists('')).rejects.toMatchObject({ code: expect.any(String) });
  expect(fixture.subjects('a')).toEqual(['Add a', 'copy: src/a.txt src/b.txt', 'remove: src']);
});

test('FC-346: several files are one revision, and come back by their paths', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  const { files } = sandbox;
  const { revision } = await files.upload({ 'src/a.txt': 'a\n', 'src/b.bin': Uint8Array.of(0, 255), __proto__x: 'p' });
  expect(revision?.number).toBe(1);
  expect(fixture.subjects('a')).toEqual(['write: src/a.txt and 2 more']);
  expect([...(await files.download(['src/b.bin', 'src/a.txt']))]).toEqual([
    ['src/b.bin', Uint8Array.of(0, 255)],
    ['src/a.txt', new TextEncoder().encode('a\n')],
  ]);
  await expect(files.download(['src/a.txt', 'none'])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(files.upload({ fine: 'x', '.git/config': 'x' })).rejects.toMatchObject({ code: 'PATH_GIT_DIR' });
  expect(await files.exists('fine')).toBe(false); // all paths are looked at before anything is written
  await expect(files.upload({})).rejects.toMatchObject({ code: 'ARG_RANGE' });
  const large = new Uint8Array(64 * 2 ** 20 + 1);
  await expect(files.upload({ fine: 'x', large })).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  await expect(files.upload({ fine: 'x', 'README/x': 'x', never: 'x' })).rejects.toMatchObject({
    code: 'NOT_A_DIRECTORY',
  });
  expect(await files.readText('fine')).toBe('x');
  expect(await files.exists('never')).toBe(false);
});

test('looking takes no turn, and a change waits for its turn', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  const { files } = sandbox;
  await using _lease = await fixture.state.lease(`sandbox:${sandbox.id}`, 'run: npm test');
  expect(await files.readText('README')).toBe('read me\n');
  expect((await files.stat('README')).type).toBe('file');
  expect((await files.list()).length).toBe(1);
  expect(await files.exists('README')).toBe(true);
  expect((await files.download(['README'])).size).toBe(1);
  for (const change of [
    () => files.write('x', 'x', { waitMs: 0 }),
    () => files.upload({ x: 'x' }, { waitMs: 0 }),
    () => files.mkdir('x', { waitMs: 0 }),
    () => files.remove('README', { waitMs: 0 }),
    () => files.copy('README', 'x', { waitMs: 0 }),
  ]) {
    const changing = change();
    await fixture.clock.during(changing.catch(() => {}));
    await expect(changing).rejects.toMatchObject({ code: 'BUSY' });
  }
});
