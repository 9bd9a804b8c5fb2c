import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { decodeRaw } from '@litterbox/core/provider';
import * as fc from 'fast-check';
import { encodedScript } from './encoded-script.ts';

const said = (script: string) => decodeRaw(execFileSync('/bin/sh', ['-c', `printf %s ${encodedScript(script)}`]));

test('a script comes out as it went in, newlines at its end apart', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const script = `${text.replaceAll('\0', '').toWellFormed()}.`;
      expect(said(script)).toBe(script);
    }),
    { numRuns: 30 },
  );
  expect(said('-n \udcff %s \\n "$(id)" `id` \'x\' !x\ny\n')).toBe('-n \udcff %s \\n "$(id)" `id` \'x\' !x\ny');
});

test('nothing in it means anything to a login shell', () => {
  const every = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1)).join('');
  const word = encodedScript(every);
  expect(word.slice('"$(printf "'.length, -'")"'.length)).not.toMatch(/['"`$!\n%]/);
});
