import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Hosts, LitterboxError } from '@litterbox/core';
import { localHost } from '@litterbox/host';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

/** Another machine: this one by another name, with a directory of its own. */
function hostsOf(directory: string, box: { isUp: boolean }): Hosts {
  const known = [
    { name: 'local', address: 'this machine' },
    { name: 'box', address: 'this machine too' },
  ];
  return {
    list: async () => known,
    async open(name) {
      if (name === 'local') return { host: localHost(), directory: join(directory, 'here') };
      if (name === 'box' && box.isUp)
        return { host: { ...localHost(), name: 'box' }, directory: join(directory, 'there') };
      throw new LitterboxError(
        name === 'box' ? 'UNAVAILABLE' : 'INVALID_ARGUMENT',
        name === 'box' ? 'The host box does not answer.' : `There is no host ${name}.`,
        { operation: 'host.open', hint: 'There are: local, box.' },
      );
    },
    async [Symbol.asyncDispose]() {},
  };
}

test('a sandbox on another machine is made there, works, and is told by its key', async () => {
  await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
  const directory = join(fixture.directory, 'machines');
  const box = { isUp: true };
  const key = `${PROVIDER}@box`;
  const open = () => fixture.open({ parts: { hosts: hostsOf(directory, box) } });

  const litterbox = open();
  await using sandbox = await litterbox.create({ name: 'far', provider: key });
  expect((await sandbox.run('echo b >b.txt && cat a.txt')).stdout).toBe('a\n');
  expect(sandbox.record).toMatchObject({ provider: key, assurance: { provider: key } });
  expect((await litterbox.changes('far')).map(({ path }) => path)).toEqual(['b.txt']);
  expect(readdirSync(join(directory, 'there', PROVIDER, 'sandboxes'))).toContain(sandbox.record.id);
  expect(existsSync(join(directory, 'here', PROVIDER, 'sandboxes', sandbox.record.id))).toBe(false);

  const states = async (instance: ReturnType<typeof open>) =>
    (await instance.list()).map(({ name, provider, state }) => `${name}: ${provider} ${state}`);
  expect(await states(litterbox)).toEqual([`far: ${key} ready`]);
  box.isUp = false;
  const later = open();
  expect(await states(later)).toEqual([`far: ${key} unreachable`]);
  await expect((await later.open('far')).run('true')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(later.recover('far', { force: true })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await later.reconcile()).toEqual([]);

  const without = fixture.open();
  expect(await states(without)).toEqual([`far: ${key} error`]);
  await expect(without.delete('far', { force: true })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `The provider ${key} made the sandbox, and this program does not have it.`,
    details: { hint: expect.stringContaining('There are: local') },
  });

  box.isUp = true;
  expect(await states(later)).toEqual([`far: ${key} ready`]);
  await later.delete('far', { force: true });
  expect(readdirSync(join(directory, 'there', PROVIDER, 'sandboxes'))).toEqual([]);
});
