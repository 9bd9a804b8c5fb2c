import { afterAll, expect, it } from '@jest/globals';
import { expectInvariants, sharedScene } from '../../src/index.ts';
import { CREATE, KEEP } from './kill-points.ts';

const shared = sharedScene(async (one) => {
  await one.once(async (litterbox) => await litterbox.create({ name: 'other' }));
});
afterAll(shared.close);

it.each(Object.entries(CREATE))('create killed at %s is %s after reconcile', async (point, outcome) => {
  await shared.on(async (one) => {
    one.commit('more.txt', `${point}: so that the base tree is a new one\n`);
    const death = await one.dying({ do: 'create', name: 'a' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => {
      const before = (await litterbox.list()).filter(({ name }) => name === 'a').map(({ state }) => state);
      expect(['', 'creating', 'ready']).toContain(before.join());
      await litterbox.reconcile();
      const found = (await litterbox.list()).map(({ name, state }) => `${name} ${state}`).sort();
      expect(found).toEqual(outcome === 'done' ? ['a ready', 'other ready'] : ['other ready']);
    });
    await expectInvariants(one, `killed at ${point}`);
    await one.once(async (litterbox) => {
      if (outcome === 'undone') await litterbox.create({ name: 'a' });
      const ran = await (await litterbox.open('a')).run('cat more.txt >copy; cat copy');
      expect(ran.stdout).toBe(`${point}: so that the base tree is a new one\n`);
      one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
      await litterbox.delete('a', { force: true });
    });
  });
});

it.each(Object.entries(KEEP))('create killed at %s: what the setup left is %s', async (point, outcome) => {
  await shared.on(async (one) => {
    one.commit('Makefile', `${point}: so that nothing was kept for it\n`);
    const setup = 'mkdir ignored; cat /proc/sys/kernel/random/uuid >ignored/run; cp ignored/run ~/run';
    const death = await one.dying({ do: 'create', name: 'a', setup }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => {
      await litterbox.reconcile();
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['other']);
    });
    await expectInvariants(one, `killed at ${point}`);
    await one.once(async (litterbox) => {
      const said: string[] = [];
      for (const name of ['a', 'b']) {
        const sandbox = await litterbox.create(
          { name, setup },
          { onProgress: ({ message }) => void said.push(message) },
        );
        said.push((await sandbox.run('cmp ignored/run ~/run && cat ignored/run')).stdout);
      }
      const runs = said.filter((text) => text.startsWith('Setting up: '));
      expect(runs).toHaveLength(outcome === 'kept' ? 0 : 1);
      expect(new Set(said.filter((text) => /^[0-9a-f-]{36}\n$/.test(text))).size).toBe(1);
      for (const name of ['a', 'b']) await litterbox.delete(name, { force: true });
    });
  });
});

it('after all of it the other sandbox works and everything holds', async () => {
  await shared.on(async (one) => {
    await one.once(async (litterbox) => {
      expect((await (await litterbox.open('other')).run('cat src/a.txt')).stdout).toBe('a\n');
    });
    await expectInvariants(one, 'at the end');
  });
});
