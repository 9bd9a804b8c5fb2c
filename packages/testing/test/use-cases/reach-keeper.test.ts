import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');
const config = '[container.ports]\nweb = 8000\n';

/** Remembers what was asked; answers when it is told to. */
function keepers(isAnswered = true): UseCaseFixtureOptions & { readonly asked: string[]; readonly launched: string[] } {
  const asked: string[] = [];
  const launched: string[] = [];
  let isThere = isAnswered;
  return {
    config,
    asked,
    launched,
    keepers: {
      async ask(_id, { verb }) {
        asked.push(verb);
        if (!isThere) return undefined;
        return (async function* () {
          yield { services: [], ports: [] };
        })();
      },
      async launch(id) {
        launched.push(id);
        isThere = true;
      },
    },
  };
}

test('a sandbox that needs nobody is not asked about', async () => {
  const options = keepers();
  await using fixture = useCaseFixture({ ...options, config: '' });
  const record = await made(fixture);
  await fixture.reachKeeper.ensure(record);
  await fixture.reachKeeper.end(record, true);
  expect(options.asked).toEqual([]);
});

test('where nobody answers a keeper is launched, once', async () => {
  const options = keepers(false);
  await using fixture = useCaseFixture(options);
  const record = await made(fixture);
  expect(options.launched).toEqual([record.id]);
  await fixture.reachKeeper.ensure(record);
  expect(options.launched).toHaveLength(1);
});

test('a sandbox that does not run gets no keeper, and who asks is told', async () => {
  const options = keepers();
  const fixture = useCaseFixture(options);
  await made(fixture);
  const none = keepers(false);
  await using next = fixture.restarted(none);
  const record = await inState(next, 'a', 'paused');
  await expect(next.reachKeeper.status(record, { verb: 'status' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(none.launched).toEqual([]);
});

test('who ends a sandbox tells its keeper how, and waits for no answer that does not come', async () => {
  const options = keepers();
  await using fixture = useCaseFixture(options);
  const record = await made(fixture);
  options.asked.length = 0;
  await fixture.reachKeeper.end(record, true);
  await fixture.reachKeeper.end(record, false);
  expect(options.asked).toEqual(['end', 'release']);
  await using next = fixture.restarted({ config, keepers: { ask: () => Promise.reject(failed) } });
  await next.reachKeeper.end(record, true);
});

test('a failure of the keeper is that of who asked', async () => {
  const fixture = useCaseFixture(keepers());
  const record = await made(fixture);
  await using next = fixture.restarted({ config, keepers: { ask: () => Promise.reject(failed) } });
  await expect(next.reachKeeper.ensure(record)).rejects.toBe(failed);
});
