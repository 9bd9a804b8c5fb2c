import { expect, test } from '@jest/globals';
import { memoryLitterbox } from 'litterbox/testing';
import { served } from './served.ts';

test('the official client makes, runs, writes, reads, lists and kills', async () => {
  await using litterbox = memoryLitterbox({ files: { 'greet.sh': 'echo Hello\n' } });
  await using opened = await served(litterbox);
  const { Sandbox } = opened.client;
  const sandbox = await Sandbox.create({ metadata: { task: 'greet' }, envs: { MODE: 'fast' } });
  const heard: string[] = [];
  const ran = await sandbox.commands.run('sh greet.sh; echo $MODE; echo wrong >&2', {
    onStdout: (text) => void heard.push(text),
    onStderr: (text) => void heard.push(`! ${text}`),
  });
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'Hello\nfast\n', stderr: 'wrong\n' });
  expect(heard.join('')).toContain('! wrong\n');
  await expect(sandbox.commands.run('exit 3')).rejects.toMatchObject({ name: 'CommandExitError', exitCode: 3 });

  expect(await sandbox.files.write('notes/a.txt', 'one\n')).toMatchObject({
    path: '/home/user/notes/a.txt',
    name: 'a.txt',
  });
  await sandbox.files.write([
    { path: 'b', data: 'two' },
    { path: '/home/user/c', data: new Uint8Array([0xff, 0]).buffer },
  ]);
  expect(await sandbox.files.read('/home/user/notes/a.txt')).toBe('one\n');
  expect(await sandbox.files.read('c', { format: 'bytes' })).toEqual(new Uint8Array([0xff, 0]));
  expect((await sandbox.files.list('.')).map(({ name, type }) => `${type} ${name}`).sort()).toEqual([
    'dir notes',
    'file b',
    'file c',
    'file greet.sh',
  ]);
  await expect(sandbox.files.read('missing')).rejects.toMatchObject({ name: 'FileNotFoundError' });

  const infos = await Sandbox.list({ query: { metadata: { task: 'greet' } } }).nextItems();
  expect(infos).toMatchObject([{ sandboxId: sandbox.sandboxId, templateId: 'base', state: 'running' }]);
  expect(await (await litterbox.open(infos[0]?.name ?? '')).diff()).toContain('+one');
  expect(await sandbox.kill()).toBe(true);
  expect(await sandbox.kill()).toBe(false);
  expect(await litterbox.list()).toEqual([]);
});
