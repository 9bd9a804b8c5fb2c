import { expect, test } from '@jest/globals';
import type { LogFile } from './log-file.ts';
import { LogSync } from './log-sync.ts';

/** A log whose syncs end when they are told to. */
class Log {
  readonly begun: PromiseWithResolvers<void>[] = [];

  sync(): Promise<void> {
    const one = Promise.withResolvers<void>();
    this.begun.push(one);
    return one.promise;
  }
}

function started() {
  const log = new Log();
  return { log, sync: new LogSync(log as unknown as LogFile), done: [] as number[] };
}

test('who asks while a sync is going on shares the next one, and the newest word counts', async () => {
  const { log, sync, done } = started();
  for (const number of [1, 2, 3]) sync.request(() => done.push(number));
  expect({ length: log.begun.length, done }).toEqual({ length: 1, done: [] });
  const settled = sync.settled();
  log.begun[0]?.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect({ length: log.begun.length, done }).toEqual({ length: 2, done: [1] }); // the first sync began before the others had written
  log.begun[1]?.resolve();
  await settled;
  expect({ length: log.begun.length, done }).toEqual({ length: 2, done: [1, 3] });
});

test('a failure is told once, to who waits next, and the sync after it counts again', async () => {
  const { log, sync, done } = started();
  sync.request(() => done.push(1));
  log.begun[0]?.reject(new Error('EIO'));
  await expect(sync.settled()).rejects.toThrow('EIO');
  await sync.settled();
  sync.request(() => done.push(2));
  log.begun[1]?.resolve();
  await sync.settled();
  expect(done).toEqual([2]);
});

test('who keeps up waits for nothing but what is two requests behind', async () => {
  const { log, sync, done } = started();
  sync.request(() => done.push(1));
  await sync.keptUp(); // one sync is going on
  sync.request(() => done.push(2));
  let isKeptUp = false;
  const keptUp = sync.keptUp().then(() => (isKeptUp = true));
  await Promise.resolve();
  expect({ isKeptUp, done }).toEqual({ isKeptUp: false, done: [] });
  log.begun[0]?.resolve();
  await keptUp;
  expect({ length: log.begun.length, done }).toEqual({ length: 2, done: [1] });
  log.begun[1]?.reject(new Error('EIO'));
  await expect(sync.settled()).rejects.toThrow('EIO');
  await sync.keptUp();
});
