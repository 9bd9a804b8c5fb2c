import { expect, test } from '@jest/globals';
import type { Policy } from '../../domain/sandbox/policy.ts';
import { type DecidedSandbox, poolFingerprint } from './pool-fingerprint.ts';

const DECIDED = {
  repositoryId: 'r',
  repositoryRoot: '/r',
  provider: 'p',
  baseCommit: 'c',
  baseTree: 't',
  workdir: '/src',
  policy: { setup: [['a']], environment: { A: '1', B: '2' } } as unknown as Policy,
} as unknown as DecidedSandbox;

const REPOSITORY = { describe: async () => ({ branch: 'main', tags: [] }) };

test('the same decisions have the same digest, in whatever order they were written', async () => {
  const turned = {
    ...DECIDED,
    policy: { environment: { B: '2', A: '1' }, setup: [['a']] },
  } as unknown as DecidedSandbox;
  expect(await poolFingerprint(REPOSITORY, turned)).toBe(await poolFingerprint(REPOSITORY, DECIDED));
  expect(await poolFingerprint(REPOSITORY, DECIDED)).toMatch(/^[0-9a-f]{64}$/);
});

test('any other decision has another one', async () => {
  const seen = new Set([await poolFingerprint(REPOSITORY, DECIDED)]);
  for (const key of Object.keys(DECIDED) as (keyof DecidedSandbox)[])
    seen.add(await poolFingerprint(REPOSITORY, { ...DECIDED, [key]: 'other' }));
  const turned = { ...DECIDED, policy: { ...DECIDED.policy, setup: [['a'], ['b']] } } as DecidedSandbox;
  seen.add(await poolFingerprint(REPOSITORY, turned));
  expect(seen.size).toBe(9);
});
