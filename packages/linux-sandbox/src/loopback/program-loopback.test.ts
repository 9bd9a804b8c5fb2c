import { describe, expect, it } from '@jest/globals';
import type { OutputChunk, ProcessHandle, ProcessSpec } from '@litterbox/core/provider';
import { ProgramLoopback } from './program-loopback.ts';

const ENTER = ['nsenter', '--net=/proc/1/ns/net', '--'];
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A machine on which every program says what it likes; those that fetch a connection stay open. */
class HostileMachine {
  readonly fetched: string[] = [];
  ended = 0;
  readonly #says: () => Iterable<string>;

  constructor(says: () => Iterable<string>) {
    this.#says = says;
  }

  readonly spawn = async ({ argv }: ProcessSpec): Promise<ProcessHandle> => {
    const isFetch = argv[0] === 'perl';
    if (isFetch) this.fetched.push(argv.at(-1) ?? '');
    const says = this.#says;
    const end = Promise.withResolvers<void>();
    return {
      exit: end.promise.then(() => ({ code: 0 })),
      async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
        if (isFetch) yield { type: 'stdout-data', bytes: bytesOf('+\n') };
        else for (const text of says()) yield { type: 'stdout-data', bytes: bytesOf(text) };
        await end.promise;
      },
      write: async () => {},
      closeStdin: async () => {},
      kill: async () => end.resolve(),
      [Symbol.asyncDispose]: async () => {
        if (!isFetch) this.ended += 1;
        end.resolve();
      },
    };
  };

  readonly loopback = new ProgramLoopback({
    enter: ENTER,
    spawn: (spec) => this.spawn(spec),
    newSocketPath: async () => '/tmp/socket',
  });
}

function* many(first: string, next: (count: number) => string): Generator<string> {
  yield first;
  for (let count = 1; count <= 10_000; count += 1) yield next(count);
}

const noOne = () => {};

describe('a machine on which what listens says what it likes', () => {
  it('AX85: has no more connections than ours would tell of', async () => {
    const machine = new HostileMachine(() => many('+\n', (count) => `${count}\n`));
    const port = await machine.loopback.listen(3128, noOne);
    await port.ended;
    expect(machine.fetched.length).toBeGreaterThan(64);
    expect(machine.fetched.length).toBeLessThanOrEqual(128);
    expect(machine.ended).toBeGreaterThan(0);
  });

  it.each(['-1', 'x', '', '0', ' 1', '1 2', '--', '9'.repeat(40)])(
    'AX85: has no connection called %j, and is given up',
    async (number) => {
      const machine = new HostileMachine(() => many('+\n', () => `${number}\n`));
      await (await machine.loopback.listen(3128, noOne)).ended;
      expect(machine.fetched).toEqual([]);
      expect(machine.ended).toBeGreaterThan(0);
    },
  );

  it('AX85: does not fill the memory by a line without an end', async () => {
    let told = 0;
    const machine = new HostileMachine(() => many('+\n', () => ((told += 1), '1'.repeat(1000))));
    await (await machine.loopback.listen(3128, noOne)).ended;
    expect(told).toBeLessThan(10);
  });

  it('AX84: gives a reason in which nothing is hidden, and no more of it than can be read', async () => {
    const machine = new HostileMachine(() => [`-\u001b[2J${'x'.repeat(3000)}\n`]);
    const ends = {
      spawn: async (spec: ProcessSpec) => ({ ...(await machine.spawn(spec)), exit: Promise.resolve({ code: 1 }) }),
    };
    const loopback = new ProgramLoopback({ enter: ENTER, newSocketPath: async () => '/tmp/socket', ...ends });
    for (const asked of [loopback.connect(80), loopback.listen(80, noOne)])
      await expect(asked).rejects.toMatchObject({ message: expect.stringMatching(/^[ -~…]{10,300}$/) });
  });
});
