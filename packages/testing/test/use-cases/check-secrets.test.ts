import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';

const config = '[secrets]\nTOKEN = { pass = "work/token" }\nA_KEY = { environment = "KEY" }\n';
const secrets = { 'pass work/token': 'hunter2' };

test('whoever lists secrets sees names and places, and nothing is read', async () => {
  await using fixture = useCaseFixture({ config, secrets, isTrusted: false });
  expect(await fixture.checkSecrets.list()).toEqual([
    { name: 'A_KEY', origin: { environment: 'KEY' } },
    { name: 'TOKEN', origin: { pass: 'work/token' } },
  ]);
  expect(await fixture.audited()).toEqual([]);
});

test('a check tells of each secret whether it is there, and never its value', async () => {
  await using fixture = useCaseFixture({ config, secrets });
  const checked = await fixture.checkSecrets.check();
  expect(checked.map(({ name, error }) => `${name}: ${error?.code ?? 'there'}`)).toEqual([
    'A_KEY: SECRET_NOT_FOUND',
    'TOKEN: there',
  ]);
  expect(await fixture.audited()).toEqual(['secret-check: ok']);
  expect(JSON.stringify([checked, fixture.shelves.records])).not.toContain('hunter2');
});

test('one secret is read when one is named, and a name that the file has not is refused', async () => {
  await using fixture = useCaseFixture({ config, secrets });
  expect((await fixture.checkSecrets.check('TOKEN')).map(({ name }) => name)).toEqual(['TOKEN']);
  await expect(fixture.checkSecrets.check('toString')).rejects.toMatchObject({ code: 'SECRET_NAME' });
});

test('a file that nobody agreed to has no secret read', async () => {
  let asked = 0;
  const counted = new Proxy(secrets, { get: (...what) => (asked++, Reflect.get(...what)) });
  await using fixture = useCaseFixture({ config, secrets: counted, isTrusted: false });
  await expect(fixture.checkSecrets.check()).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' });
  expect(asked).toBe(0);
  expect(await fixture.audited()).toEqual([]);
});
