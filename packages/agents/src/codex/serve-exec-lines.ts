import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from 'litterbox/agent';
import type { ExecServer } from './exec-server.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';

/**
 * Serves the one client that is at the other end of two streams, a line for each message, as Codex starts a server of its
 * `environments.toml`. Resolves when the input is over, and every program that the client started has ended.
 */
export async function serveExecLines(exec: ExecServer, input: Readable, output: Writable): Promise<void> {
  const gone = once(output, 'close').catch(() => {});
  output.on('error', () => input.destroy()); // nobody reads any more
  const connection = exec.connect(async (message) => {
    if (output.writable && !output.write(`${JSON.stringify(message)}\n`))
      await Promise.race([once(output, 'drain').catch(() => {}), gone]);
  });
  try {
    for await (const line of linesOf(input)) await connection.receive(line);
  } finally {
    connection.closed();
    await exec.close();
  }
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  const lines: Uint8Array[] = [];
  const splitter = new LineSplitter(
    MAX_MESSAGE_BYTES,
    (line) => lines.push(line),
    () => input.destroy(new RangeError(`a message of more than ${MAX_MESSAGE_BYTES} bytes`)),
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
