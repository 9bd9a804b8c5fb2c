import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const PORT = { config: '[container.ports]\nweb = 8000\n' };
const OPEN = { config: '[network]\nrun = "allow-list"\nallow = ["example.org"]\n' };

test('a sandbox with ports is kept from its create on: what connects outside comes in', async () => {
  await using fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  const connections: unknown[] = [];
  fixture.shelves.sandboxes.sandboxes.get(id)?.ports.set(8000, (stream) => connections.push(stream));
  await fixture.forwarder.listening.get(40_000)?.();
  expect(connections).toHaveLength(1);
  expect((await fixture.controlServices.ports('a'))[0]?.answers).toBe(true);
});

test('a port on which nobody listens inside does not answer', async () => {
  await using fixture = useCaseFixture(PORT);
  await made(fixture);
  expect((await fixture.controlServices.ports('a'))[0]?.answers).toBe(false);
});

test('one program keeps a sandbox at a time', async () => {
  await using fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  expect(await fixture.keepSandbox.keep(id)).toBeUndefined();
});

test('a number that another program took is replaced, written down, and told', async () => {
  const fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  await using next = fixture.restarted();
  next.forwarder.take(40_000);
  expect(await next.keepSandbox.keep(id)).toBeDefined();
  expect((await next.findSandbox.find('a')).ports?.[0]?.outside).toBe(40_001);
  const [port] = await next.controlServices.ports('a');
  expect(port?.movedFrom).toBe(40_000);
  expect(next.told()).toContain('port-moved');
});

test('a record that was made anew gets its numbers', async () => {
  const fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  await using next = fixture.restarted();
  const [record] = next.shelves.records.records;
  if (record) await next.state.update(record, { ports: [] });
  await next.keepSandbox.keep(id);
  expect((await next.findSandbox.find('a')).ports).toHaveLength(1);
});

test("a sandbox that does not run, or is nobody's, is not kept", async () => {
  const fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  await using next = fixture.restarted();
  await inState(next, 'a', 'paused');
  expect(await next.keepSandbox.keep(id)).toBeUndefined();
  await next.state.remove(id);
  expect(await next.keepSandbox.keep(id)).toBeUndefined();
  await using _free = await next.state.lease(`keeper:${id}`, 'look', { waitMs: 0 });
});

test('a keeper that cannot begin leaves neither port nor lease', async () => {
  const failed = new Error('no');
  const fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  await using next = fixture.restarted({ ...PORT, keepers: { serve: () => Promise.reject(failed) } });
  await expect(next.keepSandbox.keep(id)).rejects.toBe(failed);
  expect(next.forwarder.listening.size).toBe(0);
  await using _free = await next.state.lease(`keeper:${id}`, 'look', { waitMs: 0 });
});

test('a deletion is told to the keeper, which lets go', async () => {
  await using fixture = useCaseFixture(PORT);
  await made(fixture);
  await fixture.deleteSandbox.delete('a', {});
  expect(fixture.forwarder.listening.size).toBe(0);
});

test('a keeper that nobody told looks every five seconds, and lets go of what is deleted or stopped', async () => {
  const fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  await using next = fixture.restarted();
  const keeping = await next.keepSandbox.keep(id);
  await inState(next, 'a', 'stopped');
  await next.clock.pass(5_000);
  await keeping?.done;
  expect(next.forwarder.listening.size).toBe(0);
});

test('closing all of them frees what they hold', async () => {
  const fixture = useCaseFixture(PORT);
  const { id } = await made(fixture);
  await using next = fixture.restarted();
  const keeping = await next.keepSandbox.keep(id);
  await next.keepSandbox.closeAll();
  await keeping?.done;
  await using _free = await next.state.lease(`keeper:${id}`, 'look', { waitMs: 0 });
});

test('a way to the network is open while the sandbox is kept, for what the policy allows', async () => {
  await using fixture = useCaseFixture(OPEN);
  const { id } = await made(fixture);
  expect(fixture.gate.gates.map(({ policy }) => policy.allow)).toEqual([['example.org']]);
  expect([...(fixture.shelves.sandboxes.sandboxes.get(id)?.exits.keys() ?? [])]).toEqual([3128]);
  await fixture.changeRunState.change('a', 'stopped');
  expect(fixture.gate.gates).toEqual([]);
});

test('what was opened and refused at the gate stands in the audit log', async () => {
  await using fixture = useCaseFixture(OPEN);
  await made(fixture);
  const [gate] = fixture.gate.gates;
  await gate?.report({ type: 'opened', host: 'example.org', port: 443, rule: 'example.org', address: '192.0.2.1' });
  await gate?.report({ type: 'refused', host: 'evil.org', port: 443, reason: 'No rule allows it.' });
  await fixture.deleteSandbox.delete('a', {});
  expect(await fixture.audited()).toEqual(expect.arrayContaining(['network-opened: ok', 'network-refused: error']));
});

test('a way out that was lost is opened again', async () => {
  await using fixture = useCaseFixture(OPEN);
  const { id } = await made(fixture);
  const sandbox = fixture.shelves.sandboxes.sandboxes.get(id);
  const before = sandbox?.exits.get(3128);
  before?.end();
  await fixture.clock.pass(5_000);
  await fixture.runCommand.run({ sandbox: 'a', command: 'true' });
  expect(sandbox?.exits.get(3128)).toBeDefined();
  expect(sandbox?.exits.get(3128)).not.toBe(before);
});

test('a number that a program inside has leaves the sandbox without network, and its status says why', async () => {
  const fixture = useCaseFixture(OPEN);
  const { id } = await made(fixture);
  await using next = fixture.restarted();
  const sandbox = next.shelves.sandboxes.sandboxes.get(id);
  sandbox?.exits.clear();
  sandbox?.ports.set(3128, () => {});
  await next.keepSandbox.keep(id);
  const status = await next.reachKeeper.status(await next.findSandbox.find('a'), { verb: 'status' });
  expect(status.network?.state).toBe('down');
  expect(status.network?.reason).toContain('3128');
});

test('services start with the sandbox, print into their logs, and end with it', async () => {
  const config = '[container.services]\nweb = { command = ["serve"], signals = { stop = "SIGTERM" } }\n';
  const serve = async (process: {
    write(fd: number, text: string): Promise<void>;
    wait(what: Promise<never>): Promise<never>;
  }) => {
    await process.write(1, 'listening\n');
    return await process.wait(new Promise<never>(() => {}));
  };
  await using fixture = useCaseFixture({ config, programs: { serve } });
  await fixture.clock.during(made(fixture));
  expect((await fixture.controlServices.status({ sandbox: 'a' })).map(({ state }) => state)).toEqual(['running']);
  const texts: string[] = [];
  for await (const { text } of fixture.controlServices.logs({ sandbox: 'a' })) texts.push(text);
  expect(texts.join('')).toContain('listening\n');
});
