import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RedactedStream } from './redacted-stream.ts';
import { secretIn } from './secret-in.ts';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const secret = (name: string, value: string) => ({ name, bytes: bytesOf(value) });

function passed(secrets: readonly (readonly [string, string])[], chunks: readonly string[]): readonly string[] {
  const stream = new RedactedStream(secrets.map(([name, value]) => secret(name, value)));
  const parts = [...chunks.map((chunk) => stream.push(bytesOf(chunk))), stream.end()];
  return parts.map((part) => Buffer.from(part).toString());
}

/** The same of a whole text: the longest secret at the first place, again and again. */
function expected(secrets: readonly (readonly [string, string])[], text: string): string {
  const longestFirst = [...secrets].sort(([, left], [, right]) => right.length - left.length);
  let out = '';
  for (let at = 0; at < text.length; ) {
    const found = longestFirst.find(([, value]) => text.startsWith(value, at));
    out += found ? `[secret ${found[0]}]` : text[at];
    at += found?.[1].length ?? 1;
  }
  return out;
}

test('every cut of a text gives the same', () => {
  const letters = fc.constantFrom('a', 'b', 'c');
  const values = fc.uniqueArray(fc.string({ unit: letters, minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 3,
  });
  const chunks = fc.array(fc.string({ unit: letters, maxLength: 6 }), { maxLength: 12 });
  fc.assert(
    fc.property(values, chunks, (all, given) => {
      const secrets = all.map((value, index) => [`S${index}`, value] as const);
      expect(passed(secrets, given).join('')).toBe(expected(secrets, given.join('')));
    }),
  );
});

test('a secret is found at every split into two and three', () => {
  const value = 'npm_aanpm_ab';
  const text = `x${value}y`;
  for (let one = 0; one <= text.length; one += 1)
    for (let two = one; two <= text.length; two += 1)
      expect(passed([['T', value]], [text.slice(0, one), text.slice(one, two), text.slice(two)]).join('')).toBe(
        'x[secret T]y',
      );
});

test('what cannot be the beginning of a secret passes at once, and no more than that waits', () => {
  expect(passed([['T', 'secret-1']], ['$ ', 'ask [y/n] s', 'ecre', 'ted', ' end s'])).toEqual([
    '$ ',
    'ask [y/n] ',
    '',
    'secreted',
    ' end ',
    's',
  ]);
});

test('of two secrets that begin alike the longer wins, also when its end comes later', () => {
  const secrets = [
    ['SHORT', 'abcdefgh'],
    ['LONG', 'abcdefghij'],
  ] as const;
  expect(passed(secrets, ['abcdefgh', 'ij!']).join('')).toBe('[secret LONG]!');
  expect(passed(secrets, ['abcdefgh', '!']).join('')).toBe('[secret SHORT]!');
  expect(passed(secrets, ['abcdefgh']).join('')).toBe('[secret SHORT]');
});

test('memory that is used again changes nothing that waits', () => {
  const stream = new RedactedStream([secret('T', 'secret-1')]);
  const memory = bytesOf('secret');
  stream.push(memory);
  memory.fill(0x20);
  expect(Buffer.from(stream.push(bytesOf('-1'))).toString()).toBe('[secret T]');
});

test('the first secret that bytes hold is named', () => {
  const secrets = [secret('A', 'aab'), secret('B', 'xyz')];
  expect(secretIn(bytesOf('..aaab'), secrets)).toBe('A');
  expect(secretIn(bytesOf('..xyz'), secrets)).toBe('B');
  expect(secretIn(bytesOf('aa ab xy'), secrets)).toBeUndefined();
  expect(secretIn(bytesOf(''), secrets)).toBeUndefined();
});

test('AX222: output full of the beginning of one secret, and without that of another, passes in linear time', () => {
  const stream = new RedactedStream([secret('A', 'aXXXXXXXX'), secret('B', 'bXXXXXXXX')]);
  const before = process.cpuUsage();
  for (let piece = 0; piece < 12; piece++) stream.push(new Uint8Array(2 ** 16).fill(0x61));
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(6);
});
