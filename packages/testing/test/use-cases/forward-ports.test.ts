import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

test('a port that no configuration names is reached by one number, until the sandbox is deleted', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const connections: unknown[] = [];
  fixture.shelves.sandboxes.sandboxes.get(id)?.ports.set(3000, (stream) => connections.push(stream));
  const [one, again, other] = await Promise.all([3000, 3000, 3001].map((port) => fixture.forwardPorts.open('a', port)));
  expect(again).toBe(one);
  expect(other).not.toBe(one);
  expect([...fixture.forwarder.listening.keys()].toSorted()).toEqual([one, other]);
  await fixture.forwarder.listening.get(one ?? 0)?.();
  expect(connections).toHaveLength(1);
  await expect(fixture.forwarder.listening.get(other ?? 0)?.()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await fixture.deleteSandbox.delete('a', {});
  expect(fixture.forwarder.listening.size).toBe(0);
});

test('one that the configuration names has its number', async () => {
  await using fixture = useCaseFixture({ config: '[container.ports]\nweb = 8000\n' });
  await made(fixture);
  const listening = fixture.forwarder.listening.size;
  expect(await fixture.forwardPorts.open('a', 8000)).toBe(40_000);
  expect(fixture.forwarder.listening.size).toBe(listening);
});

test('a sandbox that another program deleted takes its ports along when somebody comes', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const port = await fixture.forwardPorts.open('a', 3000);
  await fixture.state.remove(id);
  await expect(fixture.forwarder.listening.get(port)?.()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(fixture.forwarder.listening.size).toBe(0);
});

test('a failure is told and tried again by the next call; a paused sandbox cannot be asked for a port', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.changeRunState.change('a', 'paused');
  await expect(fixture.forwardPorts.open('a', 3000)).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
  await fixture.changeRunState.change('a', 'ready');
  await fixture.forwardPorts.open('a', 3000);
  await fixture.forwardPorts.closeAll();
  expect(fixture.forwarder.listening.size).toBe(0);
});
