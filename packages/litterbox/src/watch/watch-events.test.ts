import { expect, test } from '@jest/globals';
import type { LitterboxEvent } from '@litterbox/core';
import { memoryLitterbox } from '../testing.ts';
import type { SandboxEvent } from './sandbox-event.ts';
import { watchEvents, type Watching } from './watch-events.ts';

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

test('events of other repositories, of no sandbox and of types that nothing knows are left out', async () => {
  const event = (sequence: number, type: string, repositoryId: string, sandbox?: string) =>
    ({ sequence, atMs: 0, type, repositoryId, ...(sandbox && { sandbox }), data: {} }) as unknown as LitterboxEvent;
  const all = [
    event(1, 'sandbox-paused', 'theirs', 'a'),
    event(2, 'sandbox-paused', 'ours'),
    event(3, 'sandbox-teleported', 'ours', 'a'),
    event(4, 'sandbox-resumed', 'ours', 'a'),
    event(5, 'sandbox-stopped', 'theirs', 'a'),
  ];
  const seen = async (repositoryId: string | undefined) => {
    const reason = new Error('seen');
    const sequences: number[] = [];
    const watching = {
      state: {
        events: async (after: number) => all.filter(({ sequence }) => sequence > after),
        get: async () => undefined,
      },
      clock: { sleep: () => Promise.reject(reason) },
      repositoryId,
    } as unknown as Watching;
    const loop = async () => {
      for await (const { sequence } of watchEvents(watching, 0, {})) sequences.push(sequence);
    };
    await expect(loop()).rejects.toBe(reason);
    return sequences;
  };
  expect(await seen('ours')).toEqual([4]);
  expect(await seen(undefined)).toEqual([1, 4, 5]);
});
