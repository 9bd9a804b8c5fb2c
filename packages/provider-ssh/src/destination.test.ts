import { expect, test } from '@jest/globals';
import { parseDestination, showDestination } from './destination.ts';
import { knownKeys } from './known-hosts.ts';

test.each([
  ['box', { host: 'box' }],
  ['me@box', { host: 'box', user: 'me' }],
  ['me@build.example.org:2222', { host: 'build.example.org', user: 'me', port: 2222 }],
  ['ssh://me@10.0.0.7:22/', { host: '10.0.0.7', user: 'me', port: 22 }],
  ['[::1]:2222', { host: '::1', port: 2222 }],
  ['me@fe80::1', { host: 'fe80::1', user: 'me' }],
])('%s', (text, destination) => {
  expect(parseDestination(text)).toEqual(destination);
  expect(parseDestination(showDestination(destination))).toEqual(destination);
});

test('keys are found by name, pattern and port; negation, comments and authorities are not', () => {
  const text = `# c
box ssh-ed25519 AAAA c
[box]:2222 ssh-rsa BBBB
*.example.org,!bad.example.org ssh-ed25519 CCCC
@cert-authority * ssh-ed25519 DDDD
@revoked gone ssh-ed25519 EEEE
broken
`;
  const found = (name: string) =>
    knownKeys(text, name).map(
      ({ type, blob, isRevoked }) => `${type} ${blob.toString('base64')}${isRevoked ? ' revoked' : ''}`,
    );
  expect(found('box')).toEqual(['ssh-ed25519 AAAA']);
  expect(found('BOX')).toEqual(['ssh-ed25519 AAAA']);
  expect(found('[box]:2222')).toEqual(['ssh-rsa BBBB']);
  expect(found('a.example.org')).toEqual(['ssh-ed25519 CCCC']);
  expect(found('bad.example.org')).toEqual([]);
  expect(found('gone')).toEqual(['ssh-ed25519 EEEE revoked']);
  expect(found('other')).toEqual([]);
});
