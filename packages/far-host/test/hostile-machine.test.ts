import { afterEach, expect, it } from '@jest/globals';
import type { OutputChunk, ProcessHandle } from '@litterbox/core/provider';
import { FAR_PATIENCE, type FarTransport, openFarHost } from '@litterbox/far-host';

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
class HostileMachine implements FarTransport {
  readonly ended = new Promise<string>(() => {});
  readonly #answers: () => Iterable<Uint8Array>;
  takenBytes = 0;

  constructor(answers: () => Iterable<Uint8Array>) {
    this.#answers = answers;
  }

  async start(commandLine: string): Promise<ProcessHandle> {
    const nonce = /x1e([0-9a-f]{32}) mux/.exec(commandLine)?.[1] ?? '';
    const count = (bytes: number) => void (this.takenBytes += bytes);
    const answers = this.#answers;
    return {
      exit: new Promise(() => {}),
      async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
        yield { type: 'stdout-data', bytes: text(`\u001e${nonce} mux\n`) };
        for (const bytes of answers()) {
          count(bytes.length);
          yield { type: 'stdout-data', bytes };
        }
        await new Promise(() => {});
      },
      write: async () => {},
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

it('of what it sends no more is kept than may be on its way (A78)', async () => {
  const machine = new HostileMachine(() => endless(frame('o', 1, new Uint8Array(32_000))));
  const patience = { ...FAR_PATIENCE, startMs: 1_500 };
  await expect(openFarHost({ name: 'hostile', patience, connect: async () => machine })).rejects.toThrow();
  expect(machine.takenBytes).toBeLessThan(4 * 2 ** 20);
});
