import { expect, test } from '@jest/globals';
import { inMemory } from '../test/in-memory.ts';

test('an ephemeral sandbox goes with its object, with all work that is in it', async () => {
  const { fixture, sandbox } = await inMemory({}, { ephemeral: true });
  await using _fixture = fixture;
  {
    await using goes = sandbox;
    await goes.files.write('work', 'x');
  }
  expect(fixture.left().records).toEqual([]);
  await sandbox[Symbol.asyncDispose](); // again
});

test('one that is gone already is gone, and another of its name stays', async () => {
  const { fixture, sandbox } = await inMemory({}, { ephemeral: true });
  await using _fixture = fixture;
  await sandbox.delete({ force: true });
  await fixture.createSandbox.create({ name: 'a' });
  await sandbox[Symbol.asyncDispose]();
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('others stay when their object goes', async () => {
  const { fixture, sandbox } = await inMemory({}, { labels: { task: 'x' } });
  await using _fixture = fixture;
  await sandbox[Symbol.asyncDispose]();
  expect(fixture.left().records).toEqual(['a: ready']);
  expect(sandbox.record.labels).toEqual({ task: 'x' });
});
