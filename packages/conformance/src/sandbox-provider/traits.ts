import assert from 'node:assert/strict';
import { isLitterboxError, SandboxId } from '@litterbox/core/provider';
import type { Check } from './suite.ts';

const LIMITS = ['memoryBytes', 'cpus', 'processes', 'openFiles', 'diskBytes', 'diskBytesPerSecond'] as const;

/** What a provider says of itself, held against what it does. */
export function traits(check: Check): void {
  check('traits are the same for every instance, and name what is known, each once', async ({ provider, another }) => {
    const { isolation, limits, workdir, roots, strategies = ['some'], snapshotCost } = provider.traits;
    assert.deepEqual((await another()).traits, provider.traits);
    assert.ok(['none', 'process', 'container', 'vm'].includes(isolation), isolation);
    assert.ok(['repository-path', '/src'].includes(workdir), workdir);
    assert.ok(snapshotCost === undefined || ['shared', 'copied'].includes(snapshotCost));
    assert.ok(
      limits.every((name) => LIMITS.includes(name)),
      limits.join(),
    );
    assert.ok(
      roots.every((root) => ['machine', 'directory', 'image'].includes(root)),
      roots.join(),
    );
    for (const names of [limits, roots, strategies]) assert.equal(new Set(names).size, names.length, names.join());
    assert.ok(strategies.length > 0 && !strategies.includes(''), 'strategies without one to choose are left off');
    assert.ok(roots.length > 0, 'a sandbox without programs is none');
  });

  check('what the probe promises is what a sandbox gets, and the probe leaves no sandbox', async (fixture) => {
    const { provider, another, create } = fixture;
    const listed = async () => {
      const found: string[] = [];
      for await (const { id } of provider.list()) found.push(id);
      return found.sort();
    };
    const before = await listed();
    const { assurance } = await (await another()).probe();
    assert.deepEqual(await listed(), before);
    if (!assurance) return; // it cannot tell without making one
    const got = await (await create()).assurance();
    const of = ({ controls }: typeof got) => controls.map(({ name, status }) => `${name}: ${status}`).sort();
    assert.equal(assurance.provider, got.provider);
    assert.deepEqual(of(got), of(assurance));
  });

  check('a root that the traits do not name, and a strategy that nobody knows, are UNSUPPORTED', async (fixture) => {
    const { provider, spec } = fixture;
    const id = SandboxId.make();
    const refused = [
      ...(provider.traits.roots.includes('machine') ? [] : [spec({ id, root: { type: 'machine' } })]),
      ...(provider.traits.roots.includes('directory') ? [] : [spec({ id, root: { type: 'directory', path: '/' } })]),
      spec({ id, strategy: 'no-such-strategy-of-the-kit' }),
    ];
    for (const one of refused)
      await assert.rejects(
        provider.create(one),
        (error) => isLitterboxError(error, 'UNSUPPORTED'),
        `${one.root.type} ${one.strategy}`,
      );
    for await (const status of provider.list()) assert.notEqual(status.id, id);
  });
}
