import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { WSL_LIST } from '../test/recorded.ts';
import { wslList } from './wsl-list.ts';
import { wslText } from './wsl-text.ts';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const machines = [
  { name: 'Ubuntu-24.04', state: 'running', says: 'Running' },
  { name: 'docker-desktop', state: 'stopped', says: 'Stopped' },
  { name: 'Legacy', state: 'stopped', says: 'Stopped', refusal: expect.stringContaining('wsl --set-version Legacy 2') },
  { name: 'Debian', state: 'other', says: 'Installing' },
];

test('the table is read in UTF-16, with and without a mark, and in UTF-8', () => {
  expect(wslList(wslText(utf16(WSL_LIST)))).toEqual(machines);
  expect(wslList(wslText(utf16(`\uFEFF${WSL_LIST}`)))).toEqual(machines);
  expect(wslList(wslText(Buffer.from(WSL_LIST)))).toEqual(machines);
});

test('the words of the first line are nobody’s business, and the default one comes first', () => {
  const table = ['  NOM    ÉTAT     VERSION', '  a      Stopped  2', '* b      Stopped  2'].join('\r\n');
  expect(wslList(wslText(utf16(table))).map(({ name }) => name)).toEqual(['b', 'a']);
});

test('a name that no host can have is left out', () => {
  const table = [
    '  NAME     STATE    VERSION',
    '  My Own   Running  2',
    '  a..b     Running  2',
    '  ok       Running  2',
  ];
  expect(wslList(table.join('\n')).map(({ name }) => name)).toEqual(['ok']);
});

test.each([
  ['a sentence', '  NAME  STATE  VERSION\nnothing here'],
  ['a version that is none', '  NAME  STATE  VERSION\n  a     Running  two'],
  ['very many', `x\n${'  a     Running  2\n'.repeat(257)}`],
])('%s is PROVIDER_PROTOCOL_ERROR', (_what, text) => {
  expect(() => wslList(text)).toThrow(expect.objectContaining({ code: 'PROVIDER_PROTOCOL_ERROR' }));
});

test('whatever it prints, nothing else is thrown, and no name is an option or a path', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      try {
        for (const { name } of wslList(wslText(bytes))) expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
      } catch (error) {
        expect(error).toMatchObject({ code: 'PROVIDER_PROTOCOL_ERROR' });
      }
    }),
  );
});
