import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Host, type HostFacts, LitterboxError } from '@litterbox/core/provider';
import { HostRegistry, type SavedHost } from './host-registry.ts';
import { userHosts } from './user-hosts.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'litterbox-book-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const box: SavedHost = {
  name: 'build-box',
  destination: 'me@build.example.org:2222',
  identityFile: '/home/me/.ssh/box',
  hostKeys: [{ type: 'ssh-ed25519', key: 'AAAA', fingerprint: 'SHA256:x' }],
  machineId: 'abc',
};

test('a machine is there again as it was put in, and gone when it was removed', async () => {
  const book = new HostRegistry(directory);
  expect(await book.list()).toEqual([]);
  await book.put(box);
  await book.put({ name: 'a', destination: 'a', hostKeys: [] });
  expect((await book.list()).map(({ name }) => name)).toEqual(['a', 'build-box']);
  expect(await new HostRegistry(directory).get('build-box')).toEqual(box);
  await book.put({ ...box, destination: 'other' });
  expect((await book.get('build-box')).destination).toBe('other');
  expect((await book.remove('a')).name).toBe('a');
  await expect(book.get('a')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    details: { hint: expect.stringContaining('build-box') },
  });
  expect(await readdir(directory)).toEqual(['hosts.json']);
  expect((await stat(join(directory, 'hosts.json'))).mode & 0o777).toBe(0o600);
});

test.each(['local', 'Build', '../x', '-o', 'a b', ''])('no machine is called %j', async (name) => {
  await expect(new HostRegistry(directory).put({ ...box, name })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('the machines that are preferred are kept beside the others, and go with theirs', async () => {
  const book = new HostRegistry(directory);
  expect(await book.preferred()).toEqual([]);
  await book.put(box);
  expect(await book.prefer(['build-box', 'lima:Default', 'local'])).toEqual(['build-box', 'lima:default', 'local']);
  await book.put({ ...box, destination: 'other' });
  expect(await new HostRegistry(directory).preferred()).toEqual(['build-box', 'lima:default', 'local']);
  await book.remove('build-box');
  expect(await book.preferred()).toEqual(['lima:default', 'local']);
  await expect(book.prefer(['attic'])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(book.prefer(['../x'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await book.prefer([]);
  expect(await book.preferred()).toEqual([]);
});

test('what a virtual machine showed is kept under its name, which nobody can add', async () => {
  const book = new HostRegistry(directory);
  expect(() => book.assertName('lima:default')).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  await book.put({ ...box, name: 'lima:default' });
  expect((await book.remove('lima:default')).machineId).toBe('abc');
});

test.each([
  ['no JSON', 'x', 'STATE_CORRUPT'],
  ['no list', '{"version":1}', 'STATE_CORRUPT'],
  ['a host without a destination', '{"version":1,"hosts":[{"name":"a","hostKeys":[]}]}', 'STATE_CORRUPT'],
  ['a key that is none', '{"version":1,"hosts":[{"name":"a","destination":"a","hostKeys":[1]}]}', 'STATE_CORRUPT'],
  ['preferred names that are none', '{"version":1,"hosts":[],"preferred":["../x"]}', 'STATE_CORRUPT'],
  ['a newer version', '{"version":2,"hosts":[]}', 'STATE_TOO_NEW'],
])('a book with %s is told, and stays as it is', async (_what, text, code) => {
  await writeFile(join(directory, 'hosts.json'), text);
  const book = new HostRegistry(directory);
  await expect(book.list()).rejects.toMatchObject({ code });
  await expect(book.put(box)).rejects.toMatchObject({ code });
  expect(await readFile(join(directory, 'hosts.json'), 'utf8')).toBe(text);
});

test('of hosts there are this machine and those in the book, and a name that is in neither says how to add it', async () => {
  // No program of this computer keeps virtual machines.
  const host: Partial<Host> = {
    environment: {},
    facts: async () => ({ platform: 'linux' }) as HostFacts,
    spawn: () => Promise.reject(new LitterboxError('TOOL_MISSING', 'It is not there.', { operation: 'test' })),
  };
  const here = { host: host as Host, directory };
  await using hosts = userHosts(here);
  await new HostRegistry(directory).put(box);
  expect(await hosts.list()).toEqual([
    { name: 'local', address: 'this machine' },
    { name: 'build-box', address: 'ssh://me@build.example.org:2222', machineId: 'abc' },
  ]);
  expect(await hosts.open('local')).toBe(here);
  await expect(hosts.open('other')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    details: { hint: expect.stringContaining('adding it to the hosts') },
  });
});

test('a machine that does not answer holds nobody up who closes the hosts', async () => {
  const { createServer } = await import('node:net');
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  await new HostRegistry(directory).put({ name: 'silent', destination: `me@127.0.0.1:${port}`, hostKeys: [] });
  const hosts = userHosts({ host: {} as never, directory });
  const opening = hosts.open('silent').then(
    () => 'opened',
    () => 'given up',
  );
  await new Promise((resolve) => silent.once('connection', resolve));
  await hosts[Symbol.asyncDispose]();
  expect(await opening).toBe('given up');
  silent.close();
});
