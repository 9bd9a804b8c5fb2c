import { afterAll, expect, it } from '@jest/globals';
import { expectInvariants, type FaultFixture, faultFixture, sharedFaultFixture } from '../../src/index.ts';
import { CREATE, KEEP } from './kill-points.ts';

const fixture = sharedFaultFixture(async (one) => {
  await one.once(async (litterbox) => await litterbox.create({ name: 'other' }));
});
afterAll(fixture.close);

it.each(Object.entries(CREATE))('create killed at %s is %s after reconcile', async (point, outcome) => {
  await on(point, async (one) => {
    const others = await one.once(async (litterbox) => (await litterbox.list()).map(({ name }) => `${name} ready`));
    one.commit('more.txt', `${point}: so that the base tree is a new one\n`);
    const death = await one.dying({ do: 'create', name: 'a' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => {
      const before = (await litterbox.list()).filter(({ name }) => name === 'a').map(({ state }) => state);
      expect(['', 'creating', 'ready']).toContain(before.join());
      await litterbox.reconcile();
      const found = (await litterbox.list()).map(({ name, state }) => `${name} ${state}`).sort();
      expect(found).toEqual(outcome === 'done' ? ['a ready', ...others] : others);
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
  await fixture.on(async (one) => {
    one.commit('Makefile', `${point}: so that nothing was kept for it\n`);
    const setup = 'mkdir ignored; date +%s%N >ignored/run; cp ignored/run ~/run';
    const death = await one.dying({ do: 'create', name: 'a', setup }, { failpoints: `${point}=kill` });
    const diedAtMs = Date.now();
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => {
      await litterbox.reconcile();
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['other']);
    });
    await expectInvariants(one, `killed at ${point}`);
    // Programs with the same environment, so that the same programs of the machine are seen inside.
    const ranAtMs: number[] = [];
    for (const name of ['a', 'b']) {
      await using client = one.client();
      await client.do({ do: 'create', name, setup });
      const { stdout } = await client.do<{ stdout: string }>({
        do: 'run',
        name,
        command: 'cmp ignored/run ~/run && cat ignored/run',
      });
      ranAtMs.push(Number(stdout) / 1e6);
      await client.do({ do: 'delete', name });
    }
    expect(ranAtMs[0]).toBeGreaterThan(0);
    expect(ranAtMs[1]).toBe(ranAtMs[0]);
    expect((ranAtMs[0] ?? 0) < diedAtMs).toBe(outcome === 'kept');
  });
});

it('after all of it the other sandbox works and everything holds', async () => {
  await fixture.on(async (one) => {
    await one.once(async (litterbox) => {
      expect((await (await litterbox.open('other')).run('cat src/a.txt')).stdout).toBe('a\n');
    });
    await expectInvariants(one, 'at the end');
  });
});

/** A whole base tree is made only where there is none that it could lie over. */
async function on(point: string, work: (one: FaultFixture) => Promise<void>): Promise<void> {
  if (point !== 'provider.after-base-tree') return await fixture.on(work);
  await using fresh = faultFixture();
  await work(fresh);
}
