import { describe, expect, it } from '@jest/globals';
import { describeSecretSource, failureOf } from '@litterbox/conformance';
import type { SecretSource } from '@litterbox/core/provider';
import { memorySecrets } from '../src/index.ts';

const good = memorySecrets({ 'keychain a': 'hunter2' });
const options = {
  there: { keychain: 'a' },
  value: 'hunter2',
  nowhere: { keychain: 'b' },
  runner: { describe, it },
} as const;

describeSecretSource({ ...options, name: 'secrets in memory', open: async () => good });

/** Each breaks the contract in one point, and the kit has to say which. */
const BROKEN: readonly (readonly [what: string, read: SecretSource['read'], title: string])[] = [
  [
    'leaves the line break at the end',
    async (...asked) => `${await good.read(...asked)}\n`,
    'a secret is read as it is kept, each time that somebody asks',
  ],
  [
    'takes nothing for an empty secret',
    async (...asked) => await good.read(...asked).catch(() => ''),
    'a secret that nobody kept is not found',
  ],
  ['hears of no abort', (origin) => good.read(origin), 'who gave up is told the own reason, and gets no secret'],
];

describe('broken secret sources', () => {
  for (const [what, read, title] of BROKEN)
    it(`one that ${what} is caught, and the secret is not shown`, async () => {
      const failure = await failureOf(
        (runner) => describeSecretSource({ ...options, runner, name: what, open: async () => ({ read }) }),
        title,
      );
      expect(failure).toBeDefined();
      expect(String(failure)).not.toContain('hunter2');
    });
});
