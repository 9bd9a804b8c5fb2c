import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { MarkerSplitter } from './marker-splitter.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));
const NONCE = 'n0nce';
const MARKER = `\u001e${NONCE} `;
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

function split(chunks: readonly Uint8Array[], isEnded = true) {
  const output: number[] = [];
  const statuses: string[] = [];
  /** How much output came before each status. */
  const at: number[] = [];
  const splitter = new MarkerSplitter(
    (bytes) => output.push(...bytes),
    (status) => {
      statuses.push(status);
      at.push(output.length);
    },
  );
  splitter.expect(NONCE);
  for (const chunk of chunks) splitter.push(chunk);
  if (isEnded) splitter.flush();
  return { output: Buffer.from(output).toString('latin1'), statuses, at };
}

function chunked(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.slice(from, places[index] ?? bytes.length));
}

const part = fc.oneof(
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('\u001e', '\u001en', `\u001e${NONCE}`, `\u001e${NONCE}x`, '\u001e\u001e', MARKER.slice(0, -1), '\n'),
  fc.integer({ min: 0, max: 255 }).map((status) => `${MARKER}${status}\n`),
);

test('how the stream was cut never changes what comes out', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 20 }), (parts, cuts) => {
      const bytes = bytesOf(parts.join(''));
      const whole = split([bytes]);
      expect(split(chunked(bytes, cuts))).toEqual(whole);
      expect(split([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
    }),
    { numRuns: runs(500) },
  );
});

test('output without a marker comes out whole, and a marker ends it where it stands', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), fc.nat(255), (bytes, status) => {
      const text = Buffer.from(bytes).toString('latin1');
      fc.pre(!text.includes(MARKER));
      expect(split([bytes])).toEqual({ output: text, statuses: [], at: [] });
      const ended = split([bytes, bytesOf(`${MARKER}${status}\n`)]);
      expect(ended).toEqual({ output: text, statuses: [String(status)], at: [text.length] });
    }),
  );
});

test('output is passed on at once unless it may be the beginning of a marker', () => {
  expect(split([bytesOf('abc\u001en')], false).output).toBe('abc');
  expect(split([bytesOf('abc\u001ex')], false).output).toBe('abc\u001ex');
});

test('a status line that never ends is not waited for without end', () => {
  const { statuses } = split([bytesOf(MARKER), bytesOf('9'.repeat(100))], false);
  expect(statuses).toHaveLength(1);
});
