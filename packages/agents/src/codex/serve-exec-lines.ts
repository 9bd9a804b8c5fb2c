import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { ExecServer } from './exec-server.ts';
import { linesOf } from '../lines-of.ts';
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
    for await (const line of linesOf(input, MAX_MESSAGE_BYTES)) await connection.receive(line);
  } finally {
    connection.closed();
    await exec.close();
  }
}
