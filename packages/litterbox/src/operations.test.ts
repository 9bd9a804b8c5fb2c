import { expect, test } from '@jest/globals';
import { operations } from './index.ts';
import { memoryLitterbox } from './testing.ts';

const named = (name: string) => {
  const found = operations().find((one) => one.name === name);
  if (!found) throw new Error(`There is no ${name}.`);
  return found;
};

test('every operation has a schema with words for each field, and none has bytes', () => {
  const all = operations();
  expect(all.length).toBeGreaterThan(40);
  for (const { name, schema } of all) {
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(JSON.stringify(schema)).not.toContain('x-bytes');
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    for (const required of (schema['required'] ?? []) as readonly string[])
      expect(`${name}: ${Object.keys(schema['properties'] as object).join(' ')}`).toContain(required);
  }
});

test('what takes text or bytes takes text', () => {
  expect(named('file-write').schema['properties']).toMatchObject({ content: { type: 'string' } });
  expect(named('sandbox-run').schema['properties']).toMatchObject({ command: { anyOf: [{ type: 'string' }, {}] } });
  expect(named('sandbox-run').schema['properties']).not.toHaveProperty('stdin');
  expect(named('files-write').schema).toMatchObject({
    properties: { files: { items: { properties: { path: { type: 'string' }, content: { type: 'string' } } } } },
  });
});

test('input of such a schema is performed, and any other is refused', async () => {
  await using litterbox = memoryLitterbox();
  await litterbox.create({ name: 'a' });
  await litterbox.perform(named('file-write').operation, { sandbox: 'a', path: 'b', content: 'text' });
  const { operation } = named('file-read');
  expect(await litterbox.perform(operation, { sandbox: 'a', path: 'b' })).toEqual(new TextEncoder().encode('text'));
  await expect(litterbox.perform(operation, { sandbox: 'a' })).rejects.toMatchObject({ code: 'ARG_MISSING' });
});
