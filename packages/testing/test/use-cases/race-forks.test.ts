import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { atFailpoint, useCaseFixture } from '../../src/index.ts';
import { changed, made } from '../made.ts';

const WORK = 'echo $LITTERBOX_RACER >number';

test('each fork does the work with its number, and the judge ranks them', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const judge = 'cat number; test $(cat number) != 3';
  const { racers, winner, unmade } = await fixture.raceForks.race({
    sandbox: 'a',
    command: WORK,
    judge,
    count: 3,
    name: 'try',
  });
  expect(racers.map(({ record, isPassed, score }) => [record.slug, isPassed, score])).toEqual([
    ['try-2', true, 2],
    ['try-1', true, 1],
    ['try-3', false, 3],
  ]);
  expect({ winner, unmade }).toEqual({ winner: 'try-2', unmade: [] });
  expect(racers[0]).toMatchObject({ number: 2, changedFiles: 2, changedLines: 2, work: { exit: { code: 0 } } });
  expect(fixture.look('try-2', 'number')).toBe('2\n');
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('what the judge changes is taken back, and what the work changed is not', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.raceForks.race({
    sandbox: 'a',
    command: 'echo work >work',
    judge: 'echo cheat >work; echo new >new',
    count: 2,
  });
  for (const name of ['a-1', 'a-2']) {
    expect(fixture.look(name, 'work')).toBe('work\n');
    expect(fixture.look(name, 'new')).toBeUndefined();
  }
});

test('a judge over forks in which nothing was done leaves the base', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const raced = await fixture.raceForks.race({ sandbox: 'a', command: ':', judge: 'echo new >new', count: 2 });
  expect(raced).toMatchObject({ winner: 'a-1', racers: [{ changedFiles: 0 }, { changedFiles: 0 }] });
});

test('where the judge passes nobody there is no winner, and everything stays', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const { racers, winner } = await fixture.raceForks.race({
    sandbox: 'a',
    command: WORK,
    judge: 'exit 7',
    count: 2,
  });
  expect(winner).toBeUndefined();
  expect(racers.map(({ judgement }) => judgement?.exit.code)).toEqual([7, 7]);
  expect(fixture.left().records.toSorted()).toEqual(['a-1: ready', 'a-2: ready', 'a: ready']);
});

test('sandboxes that are there are judged as forks are, and the judge leaves nothing in them', async () => {
  await using fixture = useCaseFixture();
  for (const name of ['a', 'b']) await made(fixture, name);
  await fixture.runCommand.run({ sandbox: 'b', command: 'echo 2 >score' });
  const judge = 'echo cheat >cheat; cat score; [ -f score ]';
  const { judged, winner } = await fixture.judgeSandboxes.judge({ sandboxes: ['a', 'b'], judge });
  expect(
    judged.map(({ record, isPassed, score, changedFiles }) => [record.slug, isPassed, score, changedFiles]),
  ).toEqual([
    ['b', true, 2, 1],
    ['a', false, undefined, 0],
  ]);
  expect(winner).toBe('b');
  expect(fixture.look('b', 'cheat')).toBeUndefined();
  await expect(fixture.judgeSandboxes.judge({ sandboxes: ['a', 'gone'], judge })).rejects.toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
  });
});

test('work that failed is judged all the same', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const raced = await fixture.raceForks.race({ sandbox: 'a', command: 'exit 3', judge: ':', count: 2 });
  expect(raced).toMatchObject({
    winner: 'a-1',
    racers: [{ work: { exit: { code: 3 } } }, { work: { exit: { code: 3 } } }],
  });
});

test('a fork that cannot be made, or that breaks, is told, and the others race on', async () => {
  let forks = 0;
  const down = new LitterboxError('DISK_FULL', 'full', { operation: 'test' });
  await using fixture = useCaseFixture({
    provider: (real) => ({
      create: (spec, options) => {
        if (spec.copyOf) forks += 1;
        return spec.copyOf && forks === 1 ? Promise.reject(down) : real.create(spec, options);
      },
    }),
  });
  await made(fixture);
  await made(fixture, 'try-3');
  const raced = await fixture.raceForks.race({ sandbox: 'a', command: WORK, judge: ':', count: 4, name: 'try' });
  expect(raced.racers.map(({ record }) => record.slug)).toEqual(['try-2', 'try-4']);
  expect(raced.unmade).toMatchObject([{ error: down }, { error: { code: 'SANDBOX_EXISTS' } }]);
});

test('a race in which no fork could be made is that error', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await made(fixture, 'b-1');
  await made(fixture, 'b-2');
  await expect(
    fixture.raceForks.race({ sandbox: 'a', command: WORK, judge: ':', count: 2, name: 'b' }),
  ).rejects.toMatchObject({ code: 'SANDBOX_EXISTS' });
});

test('a race that is taken back ends with the reason once every fork has ended', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const enough = new AbortController();
  const reason = new Error('enough');
  using _ = atFailpoint('exec.after-start', () => enough.abort(reason));
  const told: string[] = [];
  const raced = fixture.raceForks.race(
    { sandbox: 'a', command: WORK, judge: ':', count: 2 },
    { signal: enough.signal, onFork: ({ slug }) => told.push(slug) },
  );
  await expect(raced).rejects.toBe(reason);
  expect(told).toEqual(['a-1', 'a-2']); // they stay, and whoever took the race back knows of them
  expect(fixture.left().records.toSorted()).toEqual(['a-1: ready', 'a-2: ready', 'a: ready']);
});
