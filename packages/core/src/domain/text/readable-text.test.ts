import { describe, expect, test } from '@jest/globals';
import { fileKind } from './file-kind.ts';
import { readableText } from './readable-text.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('FC-36: text is what a person takes for text', () => {
  test('UTF-8 stays as it is, with a byte order mark and with U+FFFD of its own', () => {
    for (const text of ['', 'ä\n', '\ufeffx', 'a\ufffdb', 'x\x1b[31m\t\r\n'])
      expect(readableText(Buffer.from(text))).toEqual({ text, unreadable: 0 });
  });

  test('what a few bytes keep from being UTF-8 is shown without them', () => {
    expect(readableText(latin1('/* caf\xe9 */\nint x;\n'))).toEqual({
      text: '/* caf\ufffd */\nint x;\n',
      unreadable: 1,
    });
    expect(readableText(Buffer.from('const a = 1;\n\0more\n'))).toEqual({
      text: 'const a = 1;\n\ufffdmore\n',
      unreadable: 1,
    });
  });

  test('other scripts, UTF-16 and data are not', () => {
    for (const bytes of [
      latin1('\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2\n'),
      Buffer.from('\ufeffint x;\n', 'utf16le'),
      Uint8Array.from({ length: 4096 }, (_, index) => (index * 2_654_435_761) >>> 24),
      Buffer.from([0, 255, 13, 10, 120]),
    ])
      expect(readableText(bytes)).toBeUndefined();
  });
});

test.each([
  ['\x89PNG\r\n\x1a\n....', 'a PNG image'],
  ['RIFF\n\0\0\0WEBPVP8 ', 'a WebP image'],
  ['\x1f\x8b\x08', 'gzip data'],
  ['\xff\xfei\0', 'text in UTF-16'],
  ['#!/bin/sh', undefined],
  ['', undefined],
])('the first bytes %j are %p', (start, name) => {
  expect(fileKind(latin1(start))?.name).toBe(name);
});
