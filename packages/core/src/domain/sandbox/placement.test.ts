import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { MachineLoad } from './machine-load.ts';
import { placementLines } from './placement-lines.ts';
import { type HostAnswer, rankHosts, withVerdict } from './placement.ts';

const GIB = 2 ** 30;
const idle: MachineLoad = {
  memoryBytes: 16 * GIB,
  availableBytes: 16 * GIB,
  processors: 4,
  load: 0,
  roundTripMs: 1,
};
const answer = (host: string, load: Partial<MachineLoad> = {}, promisedBytes = 0): HostAnswer => ({
  host,
  load: { ...idle, ...load },
  promisedBytes,
});
const asked = { memoryBytes: 2 * GIB, isAsked: true };
const order = (answers: readonly HostAnswer[], need = asked) =>
  rankHosts(answers, need).map(({ host, verdict }) => `${host}: ${verdict}`);

test.each<[string, HostAnswer, HostAnswer]>([
  ['more free memory', answer('best', { availableBytes: 12 * GIB }), answer('other', { availableBytes: 6 * GIB })],
  ['less promised memory', answer('best', {}, 2 * GIB), answer('other', {}, 12 * GIB)],
  ['less load', answer('best', { load: 1 }), answer('other', { load: 8 })],
  [
    'more processors for the same load',
    answer('best', { load: 4, processors: 16 }),
    answer('other', { load: 4, processors: 2 }),
  ],
  ['a shorter way', answer('best', { roundTripMs: 3 }), answer('other', { roundTripMs: 80 })],
  [
    'room over a short way',
    answer('best', { roundTripMs: 80 }),
    answer('other', { availableBytes: 4 * GIB, roundTripMs: 3 }),
  ],
  ['an answer', answer('best', { availableBytes: 3 * GIB, load: 40 }), { host: 'other', silence: 'it is down' }],
  [
    'enough memory',
    answer('best', { availableBytes: 2 * GIB, load: 40 }, 64 * GIB),
    answer('other', { availableBytes: 2 * GIB - 1 }),
  ],
])('%s comes first, whoever is named first', (_what, best, other) => {
  expect(rankHosts([best, other], asked)[0]?.host).toBe('best');
  expect(rankHosts([other, best], asked)[0]?.host).toBe('best');
});

test('of machines that are alike the one that is named first is taken', () => {
  const alike = [answer('a', { roundTripMs: 2.1 }), answer('b', { roundTripMs: 1.7 })];
  expect(order(alike)).toEqual(['a: spare', 'b: spare']);
  expect(order(alike.toReversed())).toEqual(['b: spare', 'a: spare']);
});

test('a machine without the memory that was asked for is out of the question, and only then', () => {
  const small = answer('small', { availableBytes: GIB });
  expect(order([small])).toEqual(['small: too-small']);
  expect(order([small], { ...asked, isAsked: false })).toEqual(['small: spare']);
});

test('limits of others put a machine behind, and not out of the question', () => {
  expect(order([answer('full', {}, 100 * GIB), answer('free')])).toEqual(['free: spare', 'full: spare']);
});

const anyAnswer = fc.record({
  load: fc.record({
    memoryBytes: fc.integer({ min: GIB, max: 512 * GIB }),
    availableBytes: fc.integer({ min: 0, max: GIB }),
    processors: fc.integer({ min: 1, max: 256 }),
    load: fc.double({ min: 0, max: 10_000, noNaN: true }),
    roundTripMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
  }),
  promisedBytes: fc.integer({ min: 0, max: 1024 * GIB }),
});

test('every machine is told once, and the order of two does not depend on a third', () => {
  fc.assert(
    fc.property(fc.array(anyAnswer, { maxLength: 8 }), fc.boolean(), (loads, isAsked) => {
      const answers = loads.map((one, index) => ({ host: `h${index}`, ...one }));
      const need = { memoryBytes: GIB / 4, isAsked };
      const all = rankHosts(answers, need).map(({ host }) => host);
      expect([...all].sort()).toEqual(answers.map(({ host }) => host).sort());
      const without = answers.slice(1);
      expect(rankHosts(without, need).map(({ host }) => host)).toEqual(all.filter((host) => host !== 'h0'));
    }),
  );
});

test('every line tells a machine, what it has, and why it was not taken', () => {
  const [best, next, small, down] = rankHosts(
    [
      answer('a', { availableBytes: 12.25 * GIB, load: 1.5, processors: 1, roundTripMs: 3.4 }, 4 * GIB),
      answer('b', { availableBytes: 4 * GIB }),
      answer('c', { availableBytes: GIB }),
      { host: 'd', silence: `it said \u001b[31mno\n${'x'.repeat(1000)}` },
    ],
    asked,
  );
  if (!best || !next || !small || !down) throw new Error('a machine is missing');
  const hosts = [withVerdict(next, 'chosen'), withVerdict(best, 'unusable', 'docker: it is down'), small, down];
  const lines = placementLines({ ...asked, hosts });
  expect(lines).toEqual([
    expect.stringMatching(/^[ab]: chosen, [0-9.]+ GiB of 16.0 GiB free/),
    expect.stringMatching(/^[ab]: passed over, docker: it is down$/),
    'c: too small for 2.0 GiB, 1.0 GiB of 16.0 GiB free, load 0.00 on 4 processors, 1 ms away',
    expect.stringMatching(/^d: passed over, it said \\x1b\[31mno\\nx+…x+…$/),
  ]);
  expect(placementLines({ ...asked, hosts: [best] })).toEqual([
    'a: came after it, 12.3 GiB of 16.0 GiB free, 4.0 GiB promised to sandboxes, load 1.50 on 1 processor, 3 ms away',
  ]);
});
