import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { printfFormat, quoted, scriptBytes } from './shell-text.ts';

/** One shell for many words or formats: a process for each would take minutes. */
function shell(script: string): Buffer {
  const { stdout, status, stderr } = spawnSync('sh', ['-s'], { input: scriptBytes(script), maxBuffer: 2 ** 26 });
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

test('every byte goes through the printf of a real shell', () => {
  const all = Uint8Array.from({ length: 512 }, (_, index) => index & 0xff);
  const digits = Uint8Array.from([0, 0x31, 0xff, 0x37, 0x25, 0x64, 0x5c, 0x6e, 0x27, 0x22, 0x24, 0x60]);
  expect([...shell(`printf ${quoted(printfFormat(all))}`)]).toEqual([...all]);
  expect([...shell(`printf ${quoted(printfFormat(digits))}`)]).toEqual([...digits]);
});

test('any bytes come back from printf, at most four characters each', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 100 }), (list) => {
      const parts = list.map((bytes) => (bytes[0] === 0x2d ? Uint8Array.of(0x2b, ...bytes.subarray(1)) : bytes));
      for (const bytes of parts) expect(printfFormat(bytes).length).toBeLessThanOrEqual(bytes.length * 4);
      const script = parts.map((bytes) => `printf ${quoted(printfFormat(bytes))}\n`).join('');
      expect(shell(script).equals(Buffer.concat(parts))).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('any text without NUL is one word for a real shell, also in raw bytes', () => {
  const raw = fc.constantFrom(
    '\udcff',
    '\udc80',
    "'",
    '"',
    '$(id)',
    '`id`',
    '\\',
    '\n',
    '!',
    '~',
    '*',
    ' ',
    '-n',
    '',
    'é',
    '#',
    '=',
  );
  const text = fc.oneof(
    fc.array(raw, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 20 }).filter((value) => !value.includes('\0')),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 60 }), (words) => {
      const script = words.map((word) => `printf '%s\\000' ${quoted(word)}\n`).join('');
      const wanted = Buffer.concat(words.flatMap((word) => [scriptBytes(word), Uint8Array.of(0)]));
      expect(shell(script).equals(wanted)).toBe(true);
    }),
    { numRuns: 30 },
  );
});
