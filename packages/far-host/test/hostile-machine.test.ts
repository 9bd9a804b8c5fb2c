import { afterEach, expect, it } from '@jest/globals';
import type { OutputChunk, ProcessHandle } from '@litterbox/core/provider';
import { FAR_PATIENCE, type ShellTransport, openFarHost } from '@litterbox/far-host';
import { parseFarFacts } from '../src/far-facts.ts';
import { ShellMux } from '../src/shell-multiplexer.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

const text = (value: string) => new TextEncoder().encode(value);

function frame(letter: string, id: number, bytes: Uint8Array, length = bytes.length): Uint8Array {
  const whole = new Uint8Array(9 + bytes.length);
  const view = new DataView(whole.buffer);
  whole[0] = letter.charCodeAt(0);
  view.setUint32(1, id);
  view.setUint32(5, length);
  whole.set(bytes, 9);
  return whole;
}

/** A machine that greets as ours does, and then sends what it likes; how much of it was taken is counted. */
class HostileMachine implements ShellTransport {
  readonly ended = new Promise<string>(() => {});
  readonly #answers: () => Iterable<Uint8Array>;
  takenBytes = 0;
  /** Frames that it was told and has not taken. */
  untakenFrames = 0;
  readonly #refused: string;
  readonly #begin: Promise<unknown>;

  /**
   * @param refused letter of the frames that it never takes
   * @param begin when it begins to send
   */
  constructor(answers: () => Iterable<Uint8Array>, refused = '', begin: Promise<unknown> = Promise.resolve()) {
    this.#answers = answers;
    this.#refused = refused;
    this.#begin = begin;
  }

  async start(commandLine: string): Promise<ProcessHandle> {
    const nonce = /x1e([0-9a-f]{32}) mux/.exec(commandLine)?.[1] ?? '';
    const count = (bytes: number) => void (this.takenBytes += bytes);
    const answers = this.#answers;
    const begin = this.#begin;
    return {
      exit: new Promise(() => {}),
      async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
        yield { type: 'stdout-data', bytes: text(`\u001e${nonce} mux\n`) };
        await begin;
        for (const bytes of answers()) {
          count(bytes.length);
          yield { type: 'stdout-data', bytes };
        }
        await new Promise(() => {});
      },
      write: (bytes) => {
        if (String.fromCharCode(bytes[0] ?? 0) !== this.#refused) return Promise.resolve();
        this.untakenFrames += 1;
        return new Promise(() => {});
      },
      closeStdin: async () => {},
      kill: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const MANY = 100_000;

function* endless(bytes: Uint8Array): Generator<Uint8Array> {
  for (let count = 0; count < MANY; count += 1) yield bytes;
}

const floods: readonly (readonly [string, () => Iterable<Uint8Array>])[] = [
  ['output that nobody asked for', () => endless(frame('o', 1, new Uint8Array(32_000)))],
  ['output of programs that there are not', () => endless(frame('o', 4_000_000, new Uint8Array(32_000)))],
  ['a frame without end', () => [frame('o', 1, new Uint8Array(100), 2 ** 32 - 1)]],
  ['nothing that has a form', () => endless(text('what is this? '.repeat(1000)))],
  ['ends of what has not begun', () => [frame('x', 1, new Uint8Array(8)), frame('c', 1, new Uint8Array())]],
  ['counts that are none', () => [frame('w', 1, new Uint8Array(1)), frame('x', 1, new Uint8Array(3))]],
];

it.each(floods)('a machine that sends %s is UNAVAILABLE in bounded time and memory (A78)', async (_what, answers) => {
  const patience = { ...FAR_PATIENCE, startMs: 1_500 };
  const machine = new HostileMachine(answers);
  const opening = openFarHost({ name: 'hostile', patience, connect: async () => machine });
  await expect(opening).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  // Positive control: what is taken was taken, and what is dropped unseen costs nothing.
  expect(machine.takenBytes).toBeGreaterThan(0);
});

it('AX85: output without a byte, of which any number would fit, is of none of ours', async () => {
  const machine = new HostileMachine(() => endless(frame('o', 1, new Uint8Array())));
  const patience = { ...FAR_PATIENCE, startMs: 1_500 };
  await expect(openFarHost({ name: 'hostile', patience, connect: async () => machine })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  expect(machine.takenBytes).toBeLessThan(MANY);
});

it('AX85: a machine that takes no word of what was taken is given up before the words fill the memory', async () => {
  const begin = Promise.withResolvers<void>();
  const machine = new HostileMachine(() => endless(frame('o', 1, new Uint8Array(1))), 'A', begin.promise);
  await using mux = await ShellMux.open(machine, FAR_PATIENCE);
  const program = await mux?.start('true');
  await program?.[Symbol.asyncDispose](); // of what comes from now on nothing is kept, and all of it is told as taken
  begin.resolve();
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(machine.untakenFrames).toBeGreaterThan(1000);
  expect(machine.untakenFrames).toBeLessThan(20_000);
});

const FACTS = ['Linux', 'x86_64', '6.1.0', '1000', '1000', '/home/me', '/usr/bin:/bin', 'b00t', 'machine', 'A=1'];
const told = (change: Readonly<Record<number, string>> = {}) =>
  text(FACTS.map((fact, index) => `${change[index] ?? fact}\0`).join(''));

it('AX84: what a machine says of itself is words, numbers and paths', () => {
  const { facts, environment, machineId } = parseFarFacts('box', told());
  expect(facts).toMatchObject({ platform: 'linux', uid: 1000, homeDirectory: '/home/me' });
  expect({ environment: { ...environment }, machineId }).toEqual({ environment: { A: '1' }, machineId: 'machine' });
  const hostile = parseFarFacts('box', told({ 6: '/usr/bin:relative:/a\u001b[2J', 9: '__proto__=x' }));
  expect(hostile.facts.searchPath).toEqual(['/usr/bin']);
  expect(Object.entries(hostile.environment)).toEqual([['__proto__', 'x']]);
});

it.each<readonly [string, Readonly<Record<number, string>>]>([
  ['of a title', { 0: 'Linux\u001b]0;owned\u0007' }],
  ['of a line', { 1: 'x86_64\n' }],
  ['too much', { 2: '6'.repeat(1000) }],
  ['of a user that is none', { 3: '4294967296' }],
  ['of a user with an exponent', { 3: '1e3' }],
  ['of a group below zero', { 4: '-1' }],
  ['of a home somewhere', { 5: 'home' }],
  ['of a home that clears the screen', { 5: '/home/me\u001b[2J' }],
  ['of a home too far down', { 5: `/${'h'.repeat(5000)}` }],
  ['of a start in two words', { 7: 'boot id' }],
  ['of itself from right to left', { 8: '\u202e' }],
])('AX84: a machine that tells %s is refused by its name', (_what, change) => {
  expect(() => parseFarFacts('box', told(change))).toThrow(/^box does not report/);
});

it('AX84: the reason why a connection is lost has no character that nobody sees', async () => {
  const connect = async (): Promise<ShellTransport> => ({
    ended: Promise.resolve('bye\u001b]52;c;AAAA\u0007'),
    start: async () => await new Promise(() => {}),
    [Symbol.asyncDispose]: async () => {},
  });
  const patience = { ...FAR_PATIENCE, startMs: 500 };
  const opening = openFarHost({ name: 'hostile', patience, sharesSession: false, connect });
  await expect(opening).rejects.toMatchObject({ message: expect.stringMatching(/^[ -~]*bye\\x1b[ -~]*$/) });
});

it('of what it sends no more is kept than may be on its way (A78)', async () => {
  const machine = new HostileMachine(() => endless(frame('o', 1, new Uint8Array(32_000))));
  const patience = { ...FAR_PATIENCE, startMs: 1_500 };
  await expect(openFarHost({ name: 'hostile', patience, connect: async () => machine })).rejects.toThrow();
  expect(machine.takenBytes).toBeLessThan(4 * 2 ** 20);
});
