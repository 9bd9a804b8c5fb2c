import { afterAll, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { expectInvariants, sharedFaultFixture } from '../../src/index.ts';
import { argumentsOf, processesWith } from '../attacks/processes-with.ts';
import { FORK } from './kill-points.ts';

const fixture = sharedFaultFixture(async (one) => {
  await one.once(async (litterbox) => {
    const source = await litterbox.create({ name: 'source' });
    const { recorded } = await source.run('echo b >src/b.txt; echo play >"$LITTERBOX_PLAYGROUND/file"');
    one.acknowledged.add(recorded.revision?.commit ?? 'none');
    await source.milestone('b is there');
  });
});
afterAll(fixture.close);

it.each(Object.entries(FORK))('fork killed at %s is %s after reconcile', async (point, outcome) => {
  await fixture.on(async (one) => {
    const death = await one.dying({ do: 'fork', name: 'source', as: 'a' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => {
      await litterbox.reconcile();
      const found = (await litterbox.list()).map(({ name, state }) => `${name} ${state}`).sort();
      expect(found).toEqual(outcome === 'done' ? ['a ready', 'source ready'] : ['source ready']);
    });
    await expectInvariants(one, `killed at ${point}`);
    await one.once(async (litterbox) => {
      const source = await litterbox.open('source');
      expect((await source.run('cat src/b.txt')).stdout).toBe('b\n');
      if (outcome === 'undone') await source.fork({ name: 'a' });
      const fork = await litterbox.open('a');
      expect((await fork.run('cat src/b.txt "$LITTERBOX_PLAYGROUND/file"')).stdout).toBe('b\nplay\n');
      expect((await fork.log()).map(({ number }) => number)).toEqual([1]);
      await litterbox.delete('a', { force: true });
    });
  });
});

it('fork killed at any time while files are copied: the source goes on, and nothing of the fork is left', async () => {
  await fixture.on(async (one) => {
    await one.once(async (litterbox) => {
      await (await litterbox.open('source')).run(
        'mkdir -p ignored; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo $i >ignored/$i; done',
      );
    });
    for (const afterMs of [50, 120, 200, 300]) {
      await using client = one.client();
      await client.do({ do: 'list' });
      client.send({ do: 'fork', name: 'source', as: 'a' });
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      client.kill();
      await client.ended();
      // The shell that copies lives on for a moment, and holds what it makes: nobody takes that away meanwhile.
      await eventually(
        async () => processesWith('.unfinished-').filter((pid) => argumentsOf(pid).includes(one.stateDirectory)),
        (found) => found.length === 0,
      );
      await one.once(async (litterbox) => {
        await litterbox.reconcile();
        expect((await (await litterbox.open('source')).run('cat src/b.txt')).stdout).toBe('b\n');
        if ((await litterbox.list()).some(({ name }) => name === 'a')) await litterbox.delete('a', { force: true });
      });
      await expectInvariants(one, `killed after ${afterMs} ms`);
    }
  });
});
