import type { Readable } from 'node:stream';
import { LineSplitter } from 'litterbox/agent';

/** The lines of a stream but empty ones. A longer one ends it, with a `RangeError`. */
export async function* linesOf(input: Readable, maxBytes: number): AsyncGenerator<string> {
  const lines: Uint8Array[] = [];
  const splitter = new LineSplitter(
    maxBytes,
    (line) => lines.push(line),
    () => input.destroy(new RangeError(`a message of more than ${maxBytes} bytes`)),
  );
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      splitter.take(chunk);
      for (const line of lines.splice(0).map((bytes) => Buffer.from(bytes).toString('utf8')))
        if (line.trim() !== '') yield line;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
