import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { atFailpoint, NOTHING_LEFT, useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { made } from '../made.ts';

const failed = new Error('no');
const pooled = (size: number, more = ''): UseCaseFixtureOptions => ({ config: `pool = ${size}\n${more}` });

test("a fill makes as many as the configuration wants, at rest and nobody's", async () => {
  await using fixture = useCaseFixture(pooled(2));
  expect(await fixture.fillPool.refill()).toEqual({ made: 2, removed: 0, ready: 2 });
  expect(fixture.left()).toEqual({ ...NOTHING_LEFT, runtimes: ['paused', 'paused'], pool: ['ready', 'ready'] });
  expect(await fixture.audited()).toEqual(['pool-add: ok', 'pool-add: ok']);
  expect(await fixture.fillPool.refill()).toEqual({ made: 0, removed: 0, ready: 2 });
  expect((await fixture.clearPool.list()).map(({ state }) => state)).toEqual(['ready', 'ready']);
});

test('without a pool in the configuration a fill makes nothing, and takes away what there was', async () => {
  await using fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  fixture.person.write('.litterbox.toml', '');
  expect(await fixture.fillPool.refill()).toEqual({ made: 0, removed: 1, ready: 0 });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('a create takes what was prepared, and the pool is filled again behind its back', async () => {
  const launched: string[] = [];
  const poolFiller = { launch: async (root: string) => void launched.push(root) };
  await using fixture = useCaseFixture({ ...pooled(1), poolFiller });
  await fixture.fillPool.refill();
  const [prepared] = await fixture.clearPool.list();
  const record = await made(fixture);
  expect(record.id).toBe(prepared?.id);
  expect(record.assurance).toEqual(prepared?.assurance);
  expect(launched).toEqual([fixture.person.root]);
  expect(fixture.left()).toEqual({ ...NOTHING_LEFT, records: ['a: ready'], histories: ['a'], runtimes: ['running'] });
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo work >work' });
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('what a setup left in one that was prepared is a revision of the sandbox that it becomes', async () => {
  const config = '[container]\nsetup-command = ["sh", "-c", "echo built >out"]\n';
  await using fixture = useCaseFixture(pooled(1, config));
  await fixture.fillPool.refill();
  expect(fixture.left().histories).toEqual([]);
  await made(fixture);
  expect(fixture.look('a', 'out')).toBe('built\n');
  expect(fixture.subjects('a')).toEqual(['setup: sh -c echo built >out']);
});

test('one of an older base is not taken, and the next fill replaces it', async () => {
  await using fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  const [old] = await fixture.clearPool.list();
  fixture.person.write('new', 'x');
  fixture.person.commit();
  const record = await made(fixture);
  expect(record.id).not.toBe(old?.id);
  expect(fixture.look('a', 'new')).toBe('x');
  expect(await fixture.fillPool.refill()).toEqual({ made: 1, removed: 1, ready: 1 });
});

test('one that cannot be claimed is removed, and another one is made in its place', async () => {
  const gone = new LitterboxError('UNAVAILABLE', 'It does not run any more.', { operation: 'test' });
  await using fixture = useCaseFixture({ ...pooled(1), provider: { claim: () => Promise.reject(gone) } });
  await fixture.fillPool.refill();
  const record = await made(fixture);
  expect(record.state).toBe('ready');
  expect(fixture.left()).toEqual({ ...NOTHING_LEFT, records: ['a: ready'], histories: ['a'], runtimes: ['running'] });
});

test('a create with a fresh setup takes nothing prepared', async () => {
  await using fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  const [prepared] = await fixture.clearPool.list();
  expect((await made(fixture, 'a', { freshSetup: true })).id).not.toBe(prepared?.id);
  expect(fixture.left().pool).toEqual(['ready']);
});

test('a filler that cannot be started is a warning', async () => {
  const launch = () => Promise.reject(new LitterboxError('TOOL_MISSING', 'There is no node.', { operation: 'test' }));
  await using fixture = useCaseFixture({ ...pooled(1), poolFiller: { launch } });
  expect((await fixture.createSandbox.create({ name: 'a' })).warnings).toEqual(['There is no node.']);
});

test('a pool of a provider that prepares nothing is UNSUPPORTED, for a fill and for a create', async () => {
  await using fixture = useCaseFixture({ ...pooled(1), provider: { claim: undefined } as object });
  await expect(fixture.fillPool.refill()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(made(fixture)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('one fills at a time: the other one is BUSY after two seconds', async () => {
  await using fixture = useCaseFixture(pooled(1));
  const { id } = await fixture.openRepository.open();
  await using _ = await fixture.state.lease(`pool:${id}`, 'fill the pool');
  const filling = fixture.fillPool.refill();
  await fixture.clock.pass(2000);
  await expect(filling).rejects.toMatchObject({ code: 'BUSY' });
});

test('one that cannot be made is removed, audited, and told', async () => {
  await using fixture = useCaseFixture({ ...pooled(1), runtime: { assurance: () => Promise.reject(failed) } });
  await expect(fixture.fillPool.refill()).rejects.toBe(failed);
  expect(fixture.left()).toEqual(NOTHING_LEFT);
  expect(await fixture.audited()).toEqual(['pool-add: error']);
});

test('a setup that fails leaves nothing prepared', async () => {
  await using fixture = useCaseFixture(pooled(1, '[container]\nsetup-command = ["false"]\n'));
  await expect(fixture.fillPool.refill()).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

for (const point of ['pool.after-row', 'pool.after-runtime', 'pool.before-offer'])
  test(`a fill that was killed at ${point} is cleared away`, async () => {
    const fixture = useCaseFixture(pooled(1));
    await fixture.killedAt(point, () => fixture.fillPool.refill());
    expect(fixture.left().pool).toEqual(['filling']);
    await using next = fixture.restarted();
    expect(await next.reconcile.reconcile()).toEqual(['Removed a prepared sandbox (memory) that was left filling.']);
    expect(next.left()).toEqual(NOTHING_LEFT);
  });

test('a create that was killed after it took one is undone, and what it took is gone', async () => {
  const fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  await fixture.killedAt('pool.after-take', () => made(fixture));
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual(['Removed a prepared sandbox (memory) that was left claimed.']);
  expect(next.left()).toEqual(NOTHING_LEFT);
});

test('a create that was killed before it let go of the row keeps neither', async () => {
  const fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  await fixture.killedAt('create.before-release', () => made(fixture));
  await using next = fixture.restarted();
  await next.reconcile.reconcile();
  expect(next.left()).toEqual(NOTHING_LEFT);
});

test('a row of what is a sandbox by now goes alone', async () => {
  const fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  const [row] = fixture.shelves.records.pool;
  await made(fixture);
  if (row) fixture.shelves.records.pool = [{ ...row, owner: { isAlive: false } }];
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toHaveLength(1);
  expect(next.left()).toEqual({ ...NOTHING_LEFT, records: ['a: ready'], histories: ['a'], runtimes: ['running'] });
});

test('a clear removes all that is ready, and says which', async () => {
  await using fixture = useCaseFixture(pooled(2));
  await fixture.fillPool.refill();
  expect(await fixture.clearPool.clear()).toHaveLength(2);
  expect(fixture.left()).toEqual(NOTHING_LEFT);
  expect((await fixture.audited()).slice(-2)).toEqual(['pool-remove: ok', 'pool-remove: ok']);
});

test('a clear leaves what another program is just making', async () => {
  await using fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  const [line] = fixture.shelves.records.pool;
  if (line) line.owner = { isAlive: true };
  expect(await fixture.clearPool.clear()).toEqual([]);
  expect(fixture.left().pool).toEqual(['ready']);
});

test('prepared sandboxes that nobody knows of go with a clear', async () => {
  await using fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  fixture.shelves.records.pool = [];
  expect(await fixture.clearPool.countOrphans()).toBe(1);
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('a runtime that cannot be removed keeps its row, by which it is found again', async () => {
  let isDown = false;
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  const options: UseCaseFixtureOptions = {
    ...pooled(1),
    provider: (real) => ({ remove: (...args) => (isDown ? Promise.reject(down) : real.remove(...args)) }),
  };
  const fixture = useCaseFixture(options);
  await fixture.fillPool.refill();
  isDown = true;
  await expect(fixture.clearPool.clear()).rejects.toBe(down);
  expect(fixture.left().pool).toEqual(['condemned']);
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual([
    'Litterbox could not remove a prepared sandbox (memory) yet: down',
  ]);
  isDown = false;
  await using third = next.restarted();
  expect(await third.reconcile.reconcile()).toEqual(['Removed a prepared sandbox (memory) that was left condemned.']);
});

test('a failure while it is condemned is told', async () => {
  await using fixture = useCaseFixture(pooled(1));
  await fixture.fillPool.refill();
  using _ = atFailpoint('pool.after-condemned', () => {
    throw failed;
  });
  await expect(fixture.clearPool.clear()).rejects.toBe(failed);
});
