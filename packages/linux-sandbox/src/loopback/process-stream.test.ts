import { describe, expect, it } from '@jest/globals';
import type { OutputChunk, ProcessHandle } from '@litterbox/core/provider';
import { firstLine } from './process-stream.ts';

const said = (type: OutputChunk['type'], text: string): OutputChunk => ({
  type,
  bytes: new TextEncoder().encode(text),
});

/** A program that has said this, and stays: the shell around it in a container holds its output open. */
function programThatSays(...chunks: readonly OutputChunk[]): ProcessHandle {
  const end = Promise.withResolvers<void>();
  return {
    exit: end.promise.then(() => ({ code: 0 })),
    async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
      yield* chunks;
      await end.promise;
    },
    write: async () => {},
    closeStdin: async () => {},
    kill: async () => end.resolve(),
    [Symbol.asyncDispose]: async () => end.resolve(),
  };
}

const LINE = said('stdout-data', '+\n');
const BYTES = said('stdout-data', 'hello');
const DONE = said('stderr-data', '.5\n');

describe('a connection that is over', () => {
  // FC-300: an engine carries stdout and stderr apart, and either may arrive first.
  it.each([
    ['last', [LINE, BYTES, DONE]],
    ['before the bytes', [LINE, DONE, BYTES]],
    ['before the first line', [DONE, LINE, BYTES]],
    ['in parts around it', [said('stderr-data', '.'), LINE, said('stderr-data', '5\n'), BYTES]],
  ])('ends where the program says so %s', async (_when, chunks) => {
    const { line, stream } = await firstLine(programThatSays(...chunks));
    await using _stream = stream;
    expect(line).toBe('+');
    const reader = stream.readable.getReader();
    expect(await reader.read()).toEqual({ done: false, value: new TextEncoder().encode('hello') });
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });
});
