import { expect, test } from '@jest/globals';
import { memoryLitterbox } from '../testing.ts';
import type { SandboxEvent } from './sandbox-event.ts';

test('events come as they happen, with names, and the reason of an abort ends the loop', async () => {
  await using litterbox = memoryLitterbox({ files: { a: 'a\n' } });
  await litterbox.create({ name: 'before' });
  const controller = new AbortController();
  const seen: SandboxEvent[] = [];
  let heard = () => {};
  const watching = (async () => {
    for await (const event of litterbox.watch({ signal: controller.signal })) {
      seen.push(event);
      heard();
    }
  })();
  const until = async (type: string) => {
    while (seen.at(-1)?.type !== type)
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
  };
  const first = await litterbox.open('before');
  // The first question of the watch may come after this: it then sees it as old. So it is asked again until it is heard.
  while (seen.length === 0) {
    await first.run('date >>clock');
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const sandbox = await litterbox.create({ name: 'fix' });
  await sandbox.run('echo b >>a');
  await sandbox.milestone('Add b');
  await sandbox.setRunState('paused');
  await sandbox.setRunState('ready');
  await sandbox.merge();
  await until('sandbox-deleted');
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(watching).rejects.toBe(reason);

  const fix = seen.filter(({ name }) => name === 'fix');
  expect(fix.map(({ type }) => type)).toEqual([
    'sandbox-created',
    'revision-recorded',
    'milestone-cut',
    'sandbox-paused',
    'sandbox-resumed',
    'sandbox-merged',
    'sandbox-deleted',
  ]);
  const recorded = fix.find((event) => event.type === 'revision-recorded');
  expect(recorded?.data).toMatchObject({ number: 1, files: 1, subject: 'run: echo b >>a' });
  expect(new Set(fix.map(({ id }) => id))).toEqual(new Set([sandbox.id]));
  expect(seen[0]).toMatchObject({ type: 'revision-recorded', name: 'before' });
});

test('from a number on it begins there, and leaving the loop ends it', async () => {
  await using litterbox = memoryLitterbox();
  await litterbox.create({ name: 'one' });
  await litterbox.create({ name: 'two' });
  const names: (string | undefined)[] = [];
  let last = 0;
  for await (const { name, sequence } of litterbox.watch({ after: 0, scope: 'all' })) {
    names.push(name);
    last = sequence;
    if (names.length === 2) break;
  }
  expect(names).toEqual(['one', 'two']);
  await (await litterbox.open('one')).delete();
  for await (const event of litterbox.watch({ after: last })) {
    expect(event).toMatchObject({ type: 'sandbox-deleted', name: 'one' });
    break;
  }
});
