import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Litterbox } from 'litterbox';
import { localHost } from '@litterbox/host';
import { docker } from '@litterbox/provider-docker';
import { expectInvariants, type FaultFixture, faultFixture } from '../../src/index.ts';
import { CONTAINER_CREATE, CONTAINER_DELETE, CONTAINER_FORK, CONTAINER_RUN_STATE, INSTALL } from './kill-points.ts';

let one: FaultFixture;
beforeAll(() => {
  one = faultFixture(undefined, undefined, 'docker');
});
afterAll(async () => {
  await one[Symbol.asyncDispose]();
});

/** The state of the sandbox `a` after one reconcile, with everything else as it must be. */
async function settled(stage: string): Promise<string | undefined> {
  const state = await one.once(async (litterbox) => {
    await litterbox.reconcile();
    return (await litterbox.list()).find(({ name }) => name === 'a')?.state;
  });
  await expectInvariants(one, stage);
  return state;
}

/** A new sandbox `a`; one that a test before left is none of this one's business. */
async function made(litterbox: Litterbox): Promise<void> {
  if ((await litterbox.list()).some(({ name }) => name === 'a')) await litterbox.delete('a', { force: true });
  await litterbox.create({ name: 'a' });
}

describe('a sandbox in a container', () => {
  it.each(Object.keys(CONTAINER_CREATE))(
    'whose create was killed at %s is gone, and its name is free',
    async (point) => {
      const death = await one.dying({ do: 'create', name: 'a' }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      expect(await settled(`killed at ${point}`)).toBeUndefined();
      await one.once(async (litterbox) => {
        await using sandbox = await litterbox.create({ name: 'a' });
        expect((await sandbox.run('cat src/a.txt')).stdout).toBe('a\n');
        await litterbox.delete('a', { force: true });
      });
    },
  );

  it('whose create was killed at any time leaves nothing in the engine that one reconcile does not find', async () => {
    for (const afterMs of [30, 60, 90, 120, 160, 220]) {
      await using client = one.client();
      await client.do({ do: 'list' }); // started, and the engine known
      client.send({ do: 'create', name: 'a' });
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      client.kill();
      await client.ended();
      expect(['ready', undefined]).toContain(await settled(`killed after ${afterMs} ms`));
      await one.once(async (litterbox) => {
        if ((await litterbox.list()).length > 0) await litterbox.delete('a', { force: true });
      });
    }
  });

  it.each(Object.keys(CONTAINER_FORK))('whose fork was killed at %s goes on, and there is no fork', async (point) => {
    await one.once(made);
    const death = await one.dying({ do: 'fork', name: 'a', as: 'b' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    expect(await settled(`killed at ${point}`)).toBe('ready');
    await one.once(async (litterbox) => {
      expect((await litterbox.list()).map(({ name }) => name)).toEqual(['a']);
      expect((await (await litterbox.open('a')).run('cat src/a.txt')).stdout).toBe('a\n');
      await litterbox.delete('a', { force: true });
    });
  });

  it.each(Object.keys(CONTAINER_DELETE))('whose delete was killed at %s is gone', async (point) => {
    await one.once(made);
    const death = await one.dying({ do: 'delete', name: 'a' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    expect(await settled(`killed at ${point}`)).toBeUndefined();
  });

  it.each(CONTAINER_RUN_STATE)(
    'killed at %s from %s to %s is what its record says, and works',
    async (point, from, to) => {
      await one.once(async (litterbox) => {
        await made(litterbox);
        if (from !== 'ready') await litterbox.setRunState('a', from);
      });
      const death = await one.dying({ do: 'state', name: 'a', state: to }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      expect([from, to]).toContain(await settled(`killed at ${point}`));
      await one.once(async (litterbox) => {
        await litterbox.setRunState('a', to);
        await litterbox.setRunState('a', 'ready');
        await using sandbox = await litterbox.open('a');
        expect((await sandbox.run('cat src/a.txt')).stdout).toBe('a\n');
        await litterbox.delete('a', { force: true });
      });
    },
  );
});

describe('what is installed into an image', () => {
  it.each(Object.entries(INSTALL))(
    'by a create that was killed at %s is %s, and nothing else is left',
    async (point, kept) => {
      await using fixture = faultFixture(undefined, undefined, 'docker');
      // A file that the command reads makes it another image each time.
      fixture.commit('packages.txt', `${crypto.randomUUID()}\n`);
      const command = 'cat packages.txt /proc/sys/kernel/random/uuid >/installed';
      fixture.commit('.litterbox.toml', `[container]\nbase-image = "busybox:latest"\ninstall-command = "${command}"\n`);
      await fixture.once(async (litterbox) => await litterbox.trust((await litterbox.trustStatus()).contentHash));
      const death = await fixture.dying({ do: 'create', name: 'a' }, { failpoints: `${point}=kill` });
      expect(death).toMatchObject({ signal: 'SIGKILL' });
      await using provider = docker({
        host: localHost(),
        facts: await localHost().facts(),
        directory: fixture.stateDirectory,
      });
      const runtimes = async () => {
        let count = 0;
        for await (const _ of provider.list()) count += 1;
        return count;
      };
      expect(await runtimes()).toBe(1);
      await fixture.once(async (litterbox) => {
        expect(await litterbox.reconcile()).toEqual(['Removed the leftovers of an interrupted installation.']);
        expect(await litterbox.list()).toEqual([]);
      });
      expect(await runtimes()).toBe(0);
      await expectInvariants(fixture, `killed at ${point}`);
      await fixture.once(async (litterbox) => {
        const said: string[] = [];
        await using sandbox = await litterbox.create(
          { name: 'a' },
          { onProgress: ({ message }) => void said.push(message) },
        );
        expect(said.some((message) => message.startsWith('Installing:'))).toBe(kept === 'not kept');
        expect((await sandbox.run('grep -c . /installed')).stdout).toBe('2\n');
        const { root } = sandbox.record.policy;
        await litterbox.delete('a', { force: true });
        if (root.type === 'image') await provider.images?.remove(root.reference, root.installed ?? '');
      });
    },
  );
});
