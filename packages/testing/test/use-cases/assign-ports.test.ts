import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture } from '../../src/index.ts';

const PORTS = [
  { name: 'web', inside: 80 },
  { name: 'db', inside: 5432 },
];

test('each port gets a number of its own, which nobody listens on', async () => {
  await using fixture = useCaseFixture();
  fixture.forwarder.take(40_001);
  const assigned = await fixture.assignPorts.assign(PORTS, async (ports) => ports);
  expect(assigned.map(({ outside }) => outside)).toEqual([40_000, 40_002]);
});

test('without ports nobody is asked', async () => {
  await using fixture = useCaseFixture({ forwarder: { free: () => Promise.reject(new Error('asked')) } });
  expect(await fixture.assignPorts.assign([], async (ports) => ports)).toEqual([]);
});

test('nobody else chooses before the numbers are written down', async () => {
  await using fixture = useCaseFixture();
  const order: string[] = [];
  const choose = (name: string) =>
    fixture.assignPorts.assign(PORTS, async () => {
      order.push(`${name} chose`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} wrote`);
    });
  await Promise.all([choose('one'), choose('two')]);
  expect(order).toEqual(['one chose', 'one wrote', 'two chose', 'two wrote']);
});

test('who cannot write them down is told, and the next one may choose', async () => {
  await using fixture = useCaseFixture();
  const full = new LitterboxError('DISK_FULL', 'full', { operation: 'test' });
  await expect(fixture.assignPorts.assign(PORTS, () => Promise.reject(full))).rejects.toBe(full);
  expect(await fixture.assignPorts.assign(PORTS, async (ports) => ports)).toHaveLength(2);
});
