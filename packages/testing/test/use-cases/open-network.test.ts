import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { made } from '../made.ts';

const overrides = { network: { run: 'allow-list' as const, allow: ['example.org'], deny: ['evil.org'] } };
/** Nobody keeps the sandbox: a test opens the way by itself. */
const nobody: UseCaseFixtureOptions = { keepers: { ask: async () => (async function* () {})() } };

async function opened(options: UseCaseFixtureOptions = {}) {
  const fixture = useCaseFixture({ ...nobody, ...options });
  const record = await made(fixture, 'a', { overrides });
  const { runtime } = await fixture.openSandboxes.get(record);
  return { fixture, record, wayOut: await fixture.openNetwork.open(record, runtime) };
}

test('the rules of the policy are those of the gate, and connections from inside come to it', async () => {
  const { fixture, record, wayOut } = await opened();
  const [gate] = fixture.gate.gates;
  expect(gate?.policy).toEqual({ allow: ['example.org'], deny: ['evil.org'] });
  const stream = { readable: new ReadableStream(), writable: new WritableStream(), async [Symbol.asyncDispose]() {} };
  fixture.shelves.sandboxes.sandboxes.get(record.id)?.exits.get(3128)?.listener(stream);
  expect(gate?.served).toBe(1);
  await wayOut[Symbol.asyncDispose]();
  expect(fixture.gate.gates).toEqual([]);
  await wayOut.ended;
  await fixture[Symbol.asyncDispose]();
});

test('what no rule allows is gathered, each once, without the usual port', async () => {
  const { fixture, wayOut } = await opened();
  const [gate] = fixture.gate.gates;
  for (const [host, port] of [
    ['a.org', 443],
    ['a.org', 443],
    ['b.org', 8443],
  ] as const)
    await gate?.report({ type: 'refused', host, port, reason: 'No rule.' });
  await gate?.report({ type: 'refused', host: 'evil.org', port: 443, rule: 'evil.org', reason: 'A rule.' });
  await gate?.report({ type: 'refused', reason: 'No words.' });
  expect([...wayOut.missing]).toEqual(['a.org', 'b.org:8443']);
  await wayOut[Symbol.asyncDispose]();
  expect((await fixture.audited()).filter((line) => line === 'network-refused: error')).toHaveLength(5);
  await fixture[Symbol.asyncDispose]();
});

for (const asker of ['person', 'agent'] as const)
  test(`a setup that a person asked for has a budget that agents cannot use up; asked by: ${asker}`, async () => {
    const { fixture, wayOut } = await opened({ asker });
    const spending = { name: 'connections', amount: 1, most: 1, windowMs: 60_000 };
    const [ofAgents] = fixture.gate.gates;
    expect(await ofAgents?.spend(spending)).toBe(true);
    expect(await ofAgents?.spend(spending)).toBe(false);
    await wayOut[Symbol.asyncDispose]();
    const spent: Promise<boolean | undefined>[] = [];
    const onProgress = ({ step, message }: { readonly step: string; readonly message: string }) => {
      if (step === 'setup' && message.startsWith('Setting up: true'))
        spent.push(Promise.resolve(fixture.gate.gates.at(-1)?.spend(spending)));
    };
    const network = { setup: 'allow-list' as const, allow: ['example.org'] };
    await fixture.createSandbox.create({ name: 'b', overrides: { network, setup: ['true'] } }, { onProgress });
    expect(await Promise.all(spent)).toEqual([asker === 'person']);
    await fixture[Symbol.asyncDispose]();
  });

test('who is refused one host fifty times within a minute is hopeless, and who is refused slowly or many hosts is not', async () => {
  const { fixture, wayOut } = await opened();
  const [gate] = fixture.gate.gates;
  const refuse = async (host: string, times: number) => {
    for (let time = 0; time < times; time += 1)
      await gate?.report({ type: 'refused', host, port: 443, reason: `${host} is not on the list` });
  };
  const hopeless: string[] = [];
  const listening = wayOut.whenHopeless((host) => hopeless.push(host));
  await refuse('a.org', 49);
  fixture.clock.advance(60_000);
  await refuse('a.org', 49);
  await refuse('b.org', 49);
  expect(hopeless).toEqual([]);
  await refuse('b.org', 1);
  expect(hopeless).toEqual(['b.org']);
  listening[Symbol.dispose]();
  await refuse('a.org', 1);
  expect(hopeless).toEqual(['b.org']);
  expect([...wayOut.refused]).toEqual(
    ['a.org', 'b.org'].map((host) => [host, { reason: `${host} is not on the list`, isPrivate: false }]),
  );
  await wayOut[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

test('hosts of private networks are named to the gate as such', async () => {
  const allowPrivate = ['registry.internal'];
  const fixture = useCaseFixture(nobody);
  const record = await made(fixture, 'a', { overrides: { network: { run: 'allow-list', allowPrivate } } });
  const { runtime } = await fixture.openSandboxes.get(record);
  const wayOut = await fixture.openNetwork.open(record, runtime);
  expect(fixture.gate.gates[0]?.policy).toEqual({ allow: [], deny: [], allowPrivate });
  await wayOut[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

test('what cannot be written down is not let through, and the way stays for when it can be', async () => {
  const full = new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' });
  let isFull = true;
  const { fixture, wayOut } = await opened({
    audit: (real) => ({
      start: (entry, options) =>
        isFull && entry.operation.startsWith('network-') ? Promise.reject(full) : real.start(entry, options),
    }),
  });
  const [gate] = fixture.gate.gates;
  const report = { type: 'opened', host: 'a', port: 443, rule: 'a', address: '192.0.2.1' } as const;
  await expect(gate?.report(report)).rejects.toBe(full);
  await expect(gate?.spend({ name: 'a', amount: 1, most: 1, windowMs: 1 })).rejects.toBe(full);
  isFull = false;
  fixture.clock.advance(500);
  await gate?.report(report);
  expect((await fixture.audited()).slice(-2)).toEqual(['network-resumed: ok', 'network-opened: ok']);
  await wayOut[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

test('what a way that ended could not write, the next one of the sandbox writes first', async () => {
  const full = new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' });
  let isFull = true;
  const { fixture, record, wayOut } = await opened({
    audit: (real) => ({
      start: (entry, options) =>
        isFull && entry.operation.startsWith('network-') ? Promise.reject(full) : real.start(entry, options),
    }),
  });
  const closed = { type: 'closed', host: 'a', port: 443, sentBytes: 1, receivedBytes: 1 } as const;
  await expect(fixture.gate.gates[0]?.report(closed)).rejects.toBe(full);
  await wayOut[Symbol.asyncDispose]();
  isFull = false;
  fixture.clock.advance(60_000);
  const { runtime } = await fixture.openSandboxes.get(record);
  const next = await fixture.openNetwork.open(record, runtime);
  expect(await fixture.gate.gates[0]?.spend({ name: 'a', amount: 1, most: 1, windowMs: 1 })).toBe(true);
  expect((await fixture.audited()).slice(-2)).toEqual(['network-resumed: ok', 'network-closed: ok']);
  await next[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

test('a number that a program inside has is PORT_TAKEN, and the gate is closed again', async () => {
  const { fixture, record, wayOut } = await opened();
  const { runtime } = await fixture.openSandboxes.get(record);
  await expect(fixture.openNetwork.open(record, runtime)).rejects.toMatchObject({ code: 'PORT_TAKEN' });
  expect(fixture.gate.gates).toHaveLength(1);
  await wayOut[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

test('a runtime that leads nowhere is UNSUPPORTED, by the key that asks for it', async () => {
  const { fixture, record, wayOut } = await opened();
  const { listen: _, ...runtime } = (await fixture.openSandboxes.get(record)).runtime;
  await expect(fixture.openNetwork.open(record, runtime)).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: 'network.run is not supported (provider memory).',
  });
  await wayOut[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

test.each([
  ['there', undefined],
  ['there', 'there' as const],
  ['here', 'here' as const],
])('a sandbox on another machine is connected from %s where the policy says %s', async (expected, from) => {
  const fixture = useCaseFixture(nobody);
  const record = await made(fixture, 'a', { overrides });
  const { runtime } = await fixture.openSandboxes.get(record);
  const policy = { ...record.policy, network: { ...record.policy.network, ...(from && { from }) } };
  const wayOut = await fixture.openNetwork.open({ ...record, provider: 'memory@box', policy }, runtime);
  expect(fixture.gate.gates[0]?.from).toBe(expected === 'here' ? undefined : 'box');
  await wayOut[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});
