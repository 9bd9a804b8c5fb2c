import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core';
import type { EndRequest, SandboxRuntime } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';

const config = '[secrets]\nKEY = { pass = "work/key" }\n[endpoints.model]\nkind = "openai"\nsecret = "KEY"\n';
const VALUE = 'sk-real-0123456789';
const secrets = { 'pass work/key': VALUE };
const REQUEST = { method: 'POST', path: '/v1/responses' };

const fixtureOf = (options: UseCaseFixtureOptions = {}) => useCaseFixture({ config, secrets, ...options });

test('nothing of a secret is kept', async () => {
  await using fixture = fixtureOf();
  const { record } = await fixture.createSandbox.create({ name: 'a' });
  expect(fixture.endpoints.all.map(({ policy }) => policy.name)).toEqual(['model']);
  const [endpoint] = fixture.endpoints.all;
  expect(await endpoint?.books.readSecret()).toBe(VALUE);
  const end = (await endpoint?.books.begin(REQUEST)) as EndRequest;
  await end({ status: 200, sentBytes: 3, receivedBytes: 5 });
  expect(await fixture.audited()).toContain('endpoint-request: ok');
  await fixture.deleteSandbox.delete('a', { force: true });
  expect(fixture.endpoints.all).toEqual([]);
  expect(JSON.stringify([record, fixture.shelves.records, fixture.shelves.sandboxes])).not.toContain(VALUE);
});

test('AX139: a secret that is none refuses the sandbox', async () => {
  for (const [value, code] of [
    [undefined, 'SECRET_NOT_FOUND'],
    ['tiny-1', 'UNSUPPORTED'],
    ['sk-ant-oat01-0123456789', 'UNSUPPORTED'],
    ['with a blank 0123', 'UNSUPPORTED'],
  ] as const) {
    await using fixture = fixtureOf({ secrets: value === undefined ? {} : { 'pass work/key': value } });
    const error = await fixture.createSandbox.create({ name: 'a' }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    if (value !== undefined) expect(JSON.stringify([error, String(error)])).not.toContain(value);
    expect(fixture.left().records).toEqual([]);
    expect(fixture.endpoints.all).toEqual([]);
  }
});

test('a file that nobody agreed to opens no endpoint, and reads no secret', async () => {
  let asked = 0;
  const counted = new Proxy(secrets, { get: (...what) => (asked++, Reflect.get(...what)) });
  await using fixture = fixtureOf({ secrets: counted, isTrusted: false });
  await expect(fixture.createSandbox.create({ name: 'a' })).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' });
  expect({ asked, open: fixture.endpoints.all.length }).toEqual({ asked: 0, open: 0 });
});

test.each([
  ['', []],
  ['setup = true\n', ['model']],
])('AX171: a setup has an endpoint while it runs, where the file says so: %j', async (line, wanted) => {
  await using fixture = fixtureOf({ config: `${config}${line}[container]\nsetup-command = ["true"]\n` });
  const seen: (readonly string[])[] = [];
  const onProgress = ({ step }: { readonly step: string }) => {
    if (step === 'setup') seen.push(fixture.endpoints.all.map(({ policy }) => policy.name));
  };
  await fixture.createSandbox.create({ name: 'a' }, { onProgress });
  expect(seen).toContainEqual(wanted);
  expect(seen.flat()).toEqual(wanted);
});

test('a provider that cannot carry an endpoint refuses the sandbox', async () => {
  const listen = undefined as unknown as SandboxRuntime['listen'] & object;
  await using fixture = fixtureOf({ runtime: { listen } });
  await expect(fixture.createSandbox.create({ name: 'a' })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining('endpoints'),
  });
  expect(fixture.left().records).toEqual([]);
});

test('a secret is read again, and not each time', async () => {
  const values: Record<string, string> = { ...secrets };
  await using fixture = fixtureOf({ secrets: values });
  await fixture.createSandbox.create({ name: 'a' });
  const books = fixture.endpoints.all[0]?.books;
  await books?.readSecret();
  values['pass work/key'] = 'sk-second-0123456789';
  expect(await books?.readSecret()).toBe(VALUE);
  books?.forgetSecret();
  expect(await books?.readSecret()).toBe('sk-second-0123456789');
  values['pass work/key'] = 'sk-third-0123456789';
  fixture.clock.advance(5 * 60_000);
  expect(await books?.readSecret()).toBe('sk-third-0123456789');
});

test('AX138: more requests than an agent makes', async () => {
  await using fixture = fixtureOf();
  await fixture.createSandbox.create({ name: 'a' });
  const books = fixture.endpoints.all[0]?.books;
  for (let count = 0; count < 600; count += 1) expect(await books?.begin(REQUEST)).toEqual(expect.any(Function));
  expect([await books?.begin(REQUEST), await books?.begin(REQUEST)]).toEqual(['often', 'often']);
  fixture.clock.advance(60_000);
  await books?.begin(REQUEST);
  const [last] = await fixture.readAudit.entries({ limit: 1 });
  expect(last?.input).toEqual({ endpoint: 'model', ...REQUEST, leftOut: 2 });
});

test('what cannot be written down does not go out', async () => {
  const full = new LitterboxError('DISK_FULL', 'full', { operation: 'test' });
  let isFull = false;
  await using fixture = fixtureOf({
    audit: (audit) => ({
      ...audit,
      start: async (...what) => {
        if (isFull) throw full;
        return await audit.start(...what);
      },
    }),
  });
  await fixture.createSandbox.create({ name: 'a' });
  isFull = true;
  await expect(fixture.endpoints.all[0]?.books.begin(REQUEST)).rejects.toBe(full);
});

test('AX158: a budget of tokens and of requests holds over all sessions, and is spent for good', async () => {
  await using fixture = fixtureOf({ config: `${config}budget = { requests = 4, tokens = 100 }\n` });
  await fixture.createSandbox.create({ name: 'a' });
  const [first] = fixture.endpoints.all;
  const spend = async (input: number) => {
    const end = await first?.books.begin(REQUEST);
    if (typeof end !== 'function') return end;
    await end({ status: 200, sentBytes: 0, receivedBytes: 0, tokens: { input, output: 1 } });
    return 'carried';
  };
  expect([await spend(40), await spend(70), await spend(1)]).toEqual(['carried', 'carried', 'spent']);
  expect(await fixture.readUsage.read('a')).toMatchObject([
    { endpoint: 'model', requests: 2, tokens: { input: 110, output: 2 }, budget: { requests: 4, tokens: 100 } },
  ]);
  await fixture.changeRunState.change('a', 'stopped');
  await fixture.changeRunState.change('a', 'ready');
  expect(await fixture.endpoints.all.at(-1)?.books.begin(REQUEST)).toBe('spent');
});
