import { expect, it } from '@jest/globals';
import { isTooDeep, MAX_DEPTH } from './json-depth.ts';

const nested = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);
const bytes = (text: string) => new TextEncoder().encode(text);

it.each([
  ['levels that are allowed', nested(MAX_DEPTH), false],
  ['one more', nested(MAX_DEPTH + 1), true],
  ['of objects', nested(MAX_DEPTH + 1, '{"a":', '}'), true],
  ['of both', `${nested(MAX_DEPTH / 2, '[{"a":', '}]')}[${nested(MAX_DEPTH)}]`, true],
  ['many beside each other', `[${'[],'.repeat(1000)}[]]`, false],
  ['in a string', JSON.stringify({ a: nested(1000), '[': nested(1000, '\\"[') }), false],
  ['behind a string that ends in backslashes', `["\\\\",${nested(MAX_DEPTH)}]`, true],
  ['in a string that does not end', `["${nested(1000)}`, false],
])('%s', (_what, text, is) => expect(isTooDeep(bytes(text))).toBe(is));

it('looks at a large message in no time', () => {
  const message = bytes(JSON.stringify({ content: 'text "quoted" \\ '.repeat(2 ** 20) }));
  expect(isTooDeep(message)).toBe(false);
});
