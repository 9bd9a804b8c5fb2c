import { expect, test } from '@jest/globals';
import { isHostName, normalHostName, parseProviderKey, providerKey } from './provider-key.ts';

test.each([
  ['overlayfs', { kind: 'overlayfs', host: 'local' }],
  ['docker@build-box', { kind: 'docker', host: 'build-box' }],
  ['my-sandboxes@10.0.0.7', { kind: 'my-sandboxes', host: '10.0.0.7' }],
  ['overlayfs@vm:default', { kind: 'overlayfs', host: 'vm:default' }],
  ['podman@a', { kind: 'podman', host: 'a' }],
  ['podman@ci_1.example.org', { kind: 'podman', host: 'ci_1.example.org' }],
  [`d@${'h'.repeat(63)}`, { kind: 'd', host: 'h'.repeat(63) }],
])('%s names a kind and a machine, and is written the same', (text, place) => {
  expect(parseProviderKey(text)).toEqual(place);
  expect(providerKey(place)).toBe(text);
});

test.each([
  ['', /Begin with a kind/],
  ['@build-box', /Begin with a kind/],
  ['Docker', /Begin with a kind/],
  ['-docker', /Begin with a kind/],
  ['docker ', /Begin with a kind/],
  ['docker\n', /Begin with a kind/],
  ['../docker', /Begin with a kind/],
  ['k'.repeat(64), /Begin with a kind/],
  ['docker@', /machine's name/],
  ['docker@-oProxyCommand', /machine's name/],
  ['docker@..', /machine's name/],
  ['docker@a..b', /machine's name/],
  ['docker@a/b', /machine's name/],
  ['docker@a@b', /machine's name/],
  ['docker@user:', /machine's name/],
  ['docker@:secret', /machine's name/],
  ['docker@vm:a:b', /machine's name/],
  ['docker@vm:Default', /machine's name/],
  ['docker@10:a', /machine's name/],
  ['docker@a b', /machine's name/],
  ['docker@a\n', /machine's name/],
  ['docker@Build', /machine's name/],
  ['docker@büro', /machine's name/],
  [`docker@${'h'.repeat(64)}`, /machine's name/],
  ['docker@local', /write docker alone/],
])('%j is no key, and the error says what is wanted', (text, hint) => {
  expect(() => parseProviderKey(text)).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('want KIND or KIND@HOST'),
      details: expect.objectContaining({ operation: 'provider.find', hint: expect.stringMatching(hint) }),
    }),
  );
});

test("a machine's name can stand in a path and on a command line", () => {
  expect(['build-box', '..', '-x', '', 'a/b'].map(isHostName)).toEqual([true, false, false, false, false]);
});

test('names of machines that a way leads to have one spelling', () => {
  expect(['vm:Ubuntu-24.04', 'Build'].map(normalHostName)).toEqual(['vm:ubuntu-24.04', 'Build']);
});
