import { afterAll, describe, expect, it } from '@jest/globals';
import { expectInvariants, type FaultFixture, sharedFaultFixture } from '../../src/index.ts';
import { CONTAINER_CLAIM, POOL_CLAIM, POOL_FILL, POOL_REMOVE } from './kill-points.ts';

const CONFIG = `pool = 1
[container]
setup-command = "mkdir -p ignored && date +%s%N >ignored/run && echo set >set.txt"
`;

async function prepare(fixture: FaultFixture): Promise<void> {
  fixture.commit('.litterbox.toml', CONFIG);
  await fixture.once(async (litterbox) => await litterbox.trust((await litterbox.trustStatus()).contentHash));
}

const onNamespaces = sharedFaultFixture(prepare);
const onDocker = sharedFaultFixture(prepare, 'docker');
afterAll(async () => {
  await onNamespaces.close();
  await onDocker.close();
});

/** A commit of its own, so that nothing that was prepared or kept before is of use. */
async function begun(fixture: FaultFixture, point: string): Promise<void> {
  fixture.commit('Makefile', `${point}: so that the setup has to run\n`);
  await fixture.once(async (litterbox) => await litterbox.clearPool());
}

/** Nothing is left after one reconcile, and everything works. */
async function settled(fixture: FaultFixture, point: string): Promise<void> {
  await fixture.once(async (litterbox) => {
    await litterbox.reconcile();
    expect(await litterbox.list()).toEqual([]);
    expect(await litterbox.pool()).toEqual([]);
  });
  await expectInvariants(fixture, `killed at ${point}`);
  await fixture.once(async (litterbox) => {
    expect(await litterbox.fillPool()).toMatchObject({ made: 1, ready: 1 });
    const [pooled] = await litterbox.pool();
    await using sandbox = await litterbox.create({ name: 'a' });
    expect(sandbox.id).toBe(pooled?.id);
    expect((await sandbox.run('cat set.txt; echo $LITTERBOX_SANDBOX')).stdout).toBe('set\na\n');
    await litterbox.delete('a', { force: true });
  });
  await expectInvariants(fixture, `after ${point}`);
}

async function killedAtClaim(fixture: FaultFixture, point: string): Promise<void> {
  await begun(fixture, point);
  {
    // A program with the same environment as the one that takes it: the same programs of the machine are seen inside.
    await using client = fixture.client();
    await client.do({ do: 'fill' });
  }
  const death = await fixture.dying({ do: 'create', name: 'a' }, { failpoints: `${point}=kill` });
  expect(death).toMatchObject({ signal: 'SIGKILL' });
  await settled(fixture, point);
}

describe('prepared sandboxes', () => {
  it.each(POOL_FILL)('whose filler was killed at %s are gone after reconcile', async (point) => {
    await onNamespaces.on(async (one) => {
      await begun(one, point);
      expect(await one.dying({ do: 'fill' }, { failpoints: `${point}=kill` })).toMatchObject({ signal: 'SIGKILL' });
      await settled(one, point);
    });
  });

  it.each(POOL_CLAIM)('whose taker was killed at %s are gone after reconcile', async (point) => {
    await onNamespaces.on(async (one) => await killedAtClaim(one, point));
  });

  it.each(POOL_REMOVE)('whose remover was killed at %s are gone after reconcile', async (point) => {
    await onNamespaces.on(async (one) => {
      await begun(one, point);
      await one.once(async (litterbox) => await litterbox.fillPool());
      expect(await one.dying({ do: 'clear' }, { failpoints: `${point}=kill` })).toMatchObject({ signal: 'SIGKILL' });
      await settled(one, point);
    });
  });

  it.each(CONTAINER_CLAIM)('in containers, whose taker was killed at %s are gone after reconcile', async (point) => {
    await onDocker.on(async (one) => await killedAtClaim(one, point));
  });
});
