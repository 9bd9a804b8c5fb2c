import { expect, test } from '@jest/globals';
import { stepForPrograms, worded } from '../../domain/errors/next-step.ts';
import * as hints from './network-hint.ts';

function networkHint(...asked: Parameters<typeof hints.networkHint>): string | undefined {
  const hint = hints.networkHint(...asked);
  return hint === undefined ? undefined : worded(hint, stepForPrograms);
}

const NONE = { setup: 'none', run: 'none' } as const;

test('a setup that missed nothing that is known gets no hint', () => {
  expect(networkHint(NONE, 'error: no such file\n')).toBeUndefined();
});

test('what the gate refused is what may be allowed, whatever was printed', () => {
  const hint = networkHint({ ...NONE, allow: ['a.org'] }, '', {
    missing: new Set(['a.org', 'b.org', 'c.org:8443']),
    refused: new Map(),
  });
  expect(hint).toContain('If it may reach b.org, c.org:8443,');
  expect(hint).toContain('setup = "allow-list"');
  expect(hint).toContain('allow = ["a.org", "b.org", "c.org:8443"]');
  expect(hint).not.toContain('run =');
});

test('names in what was printed are what may be allowed, each once', () => {
  const log = `npm error code EAI_AGAIN
getaddrinfo EAI_AGAIN registry.npmjs.org
curl: (6) Could not resolve host: example.org
https://example.org:8443/x https://user:secret@example.org/y`;
  expect(networkHint({ ...NONE, run: 'allow-list' }, log)).toContain(
    'allow = ["registry.npmjs.org", "example.org", "example.org:8443"]',
  );
});

test('a network that was missed without a name is explained', () => {
  const log = 'connect ECONNREFUSED';
  expect(networkHint(NONE, log)).toContain('network.setup = "allow-list"');
  expect(networkHint({ ...NONE, setup: 'allow-list' }, log)).toContain('HTTPS_PROXY');
});

test('at most eight rules are named', () => {
  const missing = new Set(Array.from({ length: 20 }, (_, index) => `host-${index}.org`));
  expect(networkHint(NONE, '', { missing, refused: new Map() })?.match(/"host-/g)).toHaveLength(8);
});

test('lists what was refused although a rule allows it, with the reason, and how a host of a private network is allowed', () => {
  const refused = new Map([
    [
      'npm.example.org',
      {
        reason: 'the name npm.example.org leads to an address that is not on the Internet',
        isPrivate: true,
        address: '10.1.2.3',
      },
    ],
    [
      'odd.example.org',
      { reason: 'the name odd.example.org leads to this machine', isPrivate: false, address: '127.0.0.1' },
    ],
    ['slow.example.org', { reason: 'slow.example.org does not answer on port 443', isPrivate: false }],
  ]);
  const hint = networkHint({ setup: 'allow-list', run: 'none', allow: [...refused.keys()] }, '', {
    missing: new Set(),
    refused,
  });
  expect(hint).toBe(
    'The name npm.example.org leads to an address that is not on the Internet (10.1.2.3). The name odd.example.org leads to this machine (127.0.0.1). Slow.example.org does not answer on port 443. See what the name leads to on this machine: getent ahosts odd.example.org. If it may reach npm.example.org in your own network, write into .litterbox.toml, and agree to it with trust():\n\n[network]\nallow-private = ["npm.example.org"]\n',
  );
});
