import { describe, expect, it } from '@jest/globals';
import { type Call, checkHistory, type History } from '../../src/index.ts';

const call = (operation: string, invokedMs: number, more: Partial<Call> = {}): Call => ({
  worker: 0,
  operation,
  sandbox: 'm0',
  invokedMs,
  returnedMs: invokedMs + 1,
  outcome: 'ok',
  ...more,
});
const write = (value: string, invokedMs: number, more: Partial<Call> = {}) =>
  call('write', invokedMs, { path: 'm0/f0', value, commit: `c-${value}`, ...more });
const read = (value: string, invokedMs: number, more: Partial<Call> = {}) =>
  call('read', invokedMs, { path: 'm0/f0', value, id: 'one', ...more });
const revision = (value: string, number: number) => ({ commit: `c-${value}`, number, files: { 'm0/f0': value } });

/** Two writes, one after the other, and a read after both. */
const good: History = {
  calls: [write('a', 0), write('b', 10), read('b', 20), call('merge', 30, { id: 'one' })],
  samples: [
    { atMs: 0, digest: 'x' },
    { atMs: 29, digest: 'x' },
    { atMs: 32, digest: 'y' },
  ],
  chains: [{ id: 'one', base: {}, revisions: [revision('a', 1), revision('b', 2)] }],
  merged: new Set(['b']),
};

const BROKEN: readonly (readonly [what: string, history: Partial<History>, says: RegExp])[] = [
  [
    'an acknowledged revision that is lost',
    { chains: [{ id: 'one', base: {}, revisions: [revision('a', 1)] }] },
    /b was acknowledged as c-b and is lost/,
  ],
  [
    'an acknowledgement without a revision',
    { calls: [call('write', 0, { path: 'm0/f0', value: 'a' })] },
    /acknowledged as nothing/,
  ],
  [
    'a revision that holds something else',
    { calls: [write('a', 0, { commit: 'c-b' })] },
    /c-b was acknowledged for a and holds b/,
  ],
  [
    'revisions against the order of time',
    { calls: [write('b', 0), write('a', 10)] },
    /b ended before a began and comes after it/,
  ],
  [
    'a number left out',
    { chains: [{ id: 'one', base: {}, revisions: [revision('a', 1), revision('b', 3)] }] },
    /revision 2 of one has the number 3/,
  ],
  [
    'one revision in two histories',
    {
      chains: [
        { id: 'one', base: {}, revisions: [revision('a', 1), revision('b', 2)] },
        { id: 'two', base: {}, revisions: [revision('a', 1)] },
      ],
    },
    /c-a is in two and in one/,
  ],
  [
    'a write recorded twice',
    {
      chains: [
        {
          id: 'one',
          base: {},
          revisions: [revision('a', 1), revision('b', 2), { ...revision('a', 3), commit: 'c-again' }],
        },
      ],
      calls: [write('a', 0), write('b', 10)],
    },
    /a was recorded 2 times/,
  ],
  [
    'a write of a killed process recorded twice',
    {
      calls: [write('a', 0, { outcome: 'unknown', commit: undefined }), write('b', 10)],
      chains: [
        {
          id: 'one',
          base: {},
          revisions: [revision('a', 1), revision('b', 2), { ...revision('a', 3), commit: 'c-again' }],
        },
      ],
    },
    /a was recorded 2 times/,
  ],
  [
    'a write that was refused and recorded',
    { calls: [write('a', 0, { outcome: 'error', code: 'BUSY' }), write('b', 10)] },
    /a was refused with BUSY and recorded all the same/,
  ],
  ['a stale read', { calls: [write('a', 0), write('b', 10), read('a', 20)] }, /gave a, which b had replaced/],
  ['a read from nowhere', { calls: [write('a', 0), write('b', 10), read('ab', 20)] }, /"ab", which nobody wrote there/],
  [
    'a read before the write',
    { calls: [read('a', 0), write('a', 5), write('b', 10)] },
    /a was read before it was written/,
  ],
  [
    'a read that shows the base after a write',
    {
      calls: [write('a', 0), write('b', 10), write('old', -10, { commit: 'c-old' }), read('old', 20)],
      chains: [
        { id: 'one', base: { 'm0/f0': 'old' }, revisions: [revision('a', 1), revision('b', 2)] },
        { id: 'before', base: {}, revisions: [revision('old', 1)] },
      ],
    },
    /gave old, which a had replaced/,
  ],
  [
    "a change of the user's repository that nobody made",
    {
      samples: [
        { atMs: 0, digest: 'x' },
        { atMs: 29, digest: 'y' },
        { atMs: 32, digest: 'y' },
      ],
    },
    /changed between 0 and 29 without an apply or merge/,
  ],
  ['a merge that left work out', { merged: new Set() }, /b was merged and is not in the user's branch/],
  [
    'an error that no neighbour explains',
    { calls: [...good.calls, call('list', 40, { outcome: 'error', code: 'STATE_CORRUPT', message: 'torn' })] },
    /list of m0 failed with STATE_CORRUPT: torn/,
  ],
];

describe('the checker of histories', () => {
  it('finds nothing wrong with a good history', () => {
    expect(checkHistory(good)).toEqual([]);
  });

  it('accepts what a killed process may have done or not', () => {
    const unknown = write('a', 0, { outcome: 'unknown', commit: undefined, returnedMs: undefined });
    const samples: History['samples'] = [];
    expect(checkHistory({ ...good, samples, calls: [unknown, write('b', 10), read('b', 20)] })).toEqual([]);
    const absent = { id: 'one', base: {}, revisions: [revision('b', 1)] };
    expect(
      checkHistory({ ...good, chains: [absent], calls: [unknown, write('b', 10), read('b', 20)], samples }),
    ).toEqual([]);
  });

  it('accepts a change of a killed apply up to the next reconcile, and none after', () => {
    const killed = call('apply', 10, { outcome: 'unknown', returnedMs: undefined });
    const samples = [
      { atMs: 0, digest: 'x' },
      { atMs: 50, digest: 'y' },
    ];
    expect(checkHistory({ ...good, calls: [killed, call('reconcile', 40)], samples })).toEqual([]);
    const late = [
      { atMs: 45, digest: 'x' },
      { atMs: 50, digest: 'y' },
    ];
    expect(checkHistory({ ...good, calls: [killed, call('reconcile', 40)], samples: late })).toHaveLength(1);
  });

  it.each(BROKEN)('reports %s', (_what, history, says) => {
    const problems = checkHistory({ ...good, ...history });
    expect(problems.filter((problem) => says.test(problem))).not.toEqual([]);
  });
});
