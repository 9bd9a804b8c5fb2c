import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const config = `[container.services]
db = { command = ["db"], signals = { stop = "SIGTERM" } }
web = { command = ["web"], signals = { stop = "SIGTERM" } }
[container.ports]
web = 8000
`;

const status = (state: string, more: object = {}) => ({ sinceMs: 0, restarts: 0, state, ...more });

/** A keeper that says the same of every service, or what it is told to. */
function kept(state = 'running', more: object = {}): UseCaseFixtureOptions & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    config,
    asked,
    keepers: {
      async ask(_id, { verb, service }) {
        asked.push(service === undefined ? verb : `${verb} ${service}`);
        return (async function* () {
          if (verb === 'logs') yield { service: service ?? 'db', text: 'one\ntwo\n' };
          else
            yield {
              services: ['db', 'web'].map((name) => ({ name, ...status(state, more) })),
              ports: [{ name: 'web', inside: 8000, outside: 40_000, answers: true }],
            };
        })();
      },
    },
  };
}

test('a service is started by its keeper, and what it changed until it was up is a revision', async () => {
  const options = kept();
  await using fixture = useCaseFixture(options);
  await made(fixture);
  fixture.scribble('a', 'log', 'x');
  const { services, recorded } = await fixture.controlServices.change({
    sandbox: 'a',
    service: 'web',
    action: 'start',
  });
  expect(services.map(({ name }) => name)).toEqual(['web']);
  expect(recorded.changedFiles).toBe(1);
  expect(options.asked).toContain('start web');
  expect(fixture.subjects('a').at(-1)).toBe('service: start web');
});

test('one that does not come up is SERVICE_FAILED with the end of its log, and what it changed is recorded', async () => {
  await using fixture = useCaseFixture(kept('failed', { exit: { code: 3 } }));
  await made(fixture);
  fixture.scribble('a', 'log', 'x');
  await expect(fixture.controlServices.change({ sandbox: 'a', action: 'restart' })).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
    message: expect.stringMatching(/db is not up: ended with exit code 3 and is failed\none\ntwo/),
  });
  expect(fixture.subjects('a')).toHaveLength(1);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-service: error');
});

test('one that is stopped need not be up', async () => {
  await using fixture = useCaseFixture(kept('stopped'));
  await made(fixture);
  const { services } = await fixture.controlServices.change({ sandbox: 'a', action: 'stop' });
  expect(services.map(({ state }) => state)).toEqual(['stopped', 'stopped']);
});

test('one that is not there is SERVICE_NOT_FOUND, with those that are, and nobody is asked', async () => {
  const options = kept();
  await using fixture = useCaseFixture(options);
  await made(fixture);
  const before = options.asked.length;
  const call = { sandbox: 'a', service: 'cache' } as const;
  const expected = { code: 'SERVICE_NOT_FOUND', details: { hint: 'It has: db, web.' } };
  await expect(fixture.controlServices.change({ ...call, action: 'start' })).rejects.toMatchObject(expected);
  await expect(fixture.controlServices.status(call)).rejects.toMatchObject(expected);
  await expect(fixture.controlServices.logs(call).next()).rejects.toMatchObject(expected);
  expect(options.asked.slice(before).filter((verb) => verb !== 'status')).toEqual([]);
});

test('the status is of one or of all', async () => {
  await using fixture = useCaseFixture(kept());
  await made(fixture);
  expect(await fixture.controlServices.status({ sandbox: 'a' })).toHaveLength(2);
  expect(await fixture.controlServices.status({ sandbox: 'a', service: 'db' })).toHaveLength(1);
});

test('a sandbox without services has an empty status and no ports, and nobody keeps it', async () => {
  await using fixture = useCaseFixture({ keepers: { ask: () => Promise.reject(new Error('asked')) } });
  await made(fixture);
  expect(await fixture.controlServices.status({ sandbox: 'a' })).toEqual([]);
  expect(await fixture.controlServices.ports('a')).toEqual([]);
  await expect(fixture.controlServices.change({ sandbox: 'a', action: 'start' })).rejects.toMatchObject({
    code: 'SERVICE_NOT_FOUND',
    message: 'The sandbox a has no services.',
  });
});

test('ports are as their keeper tried them', async () => {
  await using fixture = useCaseFixture(kept());
  await made(fixture);
  expect((await fixture.controlServices.ports('a'))[0]?.answers).toBe(true);
});

test('logs are what the keeper gives, piece by piece', async () => {
  await using fixture = useCaseFixture(kept());
  await made(fixture);
  const texts: string[] = [];
  for await (const { text } of fixture.controlServices.logs({ sandbox: 'a', service: 'db' })) texts.push(text);
  expect(texts).toEqual(['one\ntwo\n']);
});

test('logs of a paused sandbox are SANDBOX_PAUSED', async () => {
  await using fixture = useCaseFixture(kept());
  await made(fixture);
  await inState(fixture, 'a', 'paused');
  await expect(fixture.controlServices.logs({ sandbox: 'a' }).next()).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
});

test('a keeper that refuses is told as it is', async () => {
  const refused = new LitterboxError('UNAVAILABLE', 'no', { operation: 'test' });
  const options = kept();
  const fixture = useCaseFixture(options);
  await made(fixture);
  await using next = fixture.restarted({ config, keepers: { ask: () => Promise.reject(refused) } });
  await expect(next.controlServices.status({ sandbox: 'a' })).rejects.toBe(refused);
});
