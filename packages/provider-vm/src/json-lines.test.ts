import { expect, test } from '@jest/globals';
import { jsonLines } from './json-lines.ts';

const read = (text: string) => jsonLines('limactl', new TextEncoder().encode(text));

test('no line is no machine, and further members are let through', () => {
  expect(read('')).toEqual([]);
  expect(read('{"name":"a-1.b_2","status":"Running","more":{"x":[1]}}\n\n')).toEqual([
    { name: 'a-1.b_2', status: 'Running' },
  ]);
});

test.each([
  ['text', 'WARN no instance'],
  ['a list', '[{"name":"a"}]'],
  ['no name', '{"status":"Running"}'],
  ['an option for a name', '{"name":"--help","status":"Running"}'],
  ['a path for a name', '{"name":"../x","status":"Running"}'],
  ['two dots', '{"name":"a..b","status":"Running"}'],
  ['a newline in a name', '{"name":"a\\nb","status":"Running"}'],
  ['a long name', `{"name":"${'a'.repeat(64)}","status":"Running"}`],
  ['a status that is none', '{"name":"a","status":1}'],
  ['very many machines', '{"name":"a","status":"Running"}\n'.repeat(257)],
])('%s is PROVIDER_PROTOCOL_ERROR', (_what, text) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code: 'PROVIDER_PROTOCOL_ERROR' }));
});
