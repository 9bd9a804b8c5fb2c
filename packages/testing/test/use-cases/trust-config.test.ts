import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';

const config = '[container]\nsetup-command = ["npm", "ci"]\n';

test('a person agrees to what they were shown, and it is audited', async () => {
  await using fixture = useCaseFixture({ config, isTrusted: false });
  const before = await fixture.trustConfig.status();
  expect(before.isTrusted).toBe(false);
  expect(before.trustText).toBe('container.setup-command = [["npm","ci"]]\n');
  expect(before.trustedText).toBeUndefined();
  expect((await fixture.trustConfig.trust(before.contentHash)).isTrusted).toBe(true);
  const after = await fixture.trustConfig.status();
  expect(after.isTrusted).toBe(true);
  expect(after.trustedText).toBe(before.trustText);
  expect(await fixture.audited()).toEqual(['config-trust: ok']);
});

test('a file that changed since it was shown is not agreed to', async () => {
  await using fixture = useCaseFixture({ config, isTrusted: false });
  const { contentHash } = await fixture.trustConfig.status();
  fixture.person.write('.litterbox.toml', '[container]\nsetup-command = ["curl", "evil"]\n');
  expect((await fixture.trustConfig.trust(contentHash)).isTrusted).toBe(false);
  expect((await fixture.trustConfig.status()).isTrusted).toBe(false);
  expect(await fixture.audited()).toEqual([]);
});

test('what needs nobody is trusted by itself, and agreeing to it changes nothing', async () => {
  await using fixture = useCaseFixture({ config: '[limits]\nprocesses = 100\n', isTrusted: false });
  const { isTrusted, contentHash, trustText } = await fixture.trustConfig.status();
  expect(isTrusted).toBe(true);
  expect(trustText).toBe('');
  await fixture.trustConfig.trust(contentHash);
  expect(await fixture.audited()).toEqual([]);
});

test('an agreement that cannot be written down is an audited error', async () => {
  const failed = new Error('no');
  await using fixture = useCaseFixture({ config, isTrusted: false, state: { trust: () => Promise.reject(failed) } });
  const { contentHash } = await fixture.trustConfig.status();
  await expect(fixture.trustConfig.trust(contentHash)).rejects.toBe(failed);
  expect(await fixture.audited()).toEqual(['config-trust: error']);
});
