import { afterAll, expect, it } from '@jest/globals';
import { expectInvariants, sharedScene } from '../../src/index.ts';
import { CREATE } from './kill-points.ts';

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

it('after all of it the other sandbox works and everything holds', async () => {
  await shared.on(async (one) => {
    await one.once(async (litterbox) => {
      expect((await (await litterbox.open('other')).run('cat src/a.txt')).stdout).toBe('a\n');
    });
    await expectInvariants(one, 'at the end');
  });
});
