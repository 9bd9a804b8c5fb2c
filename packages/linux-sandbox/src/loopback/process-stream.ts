import { type ByteStream, joinBytes, type ProcessHandle } from '@litterbox/core/provider';
import { closeQuietly } from './close-quietly.ts';
import { ORDERLY } from './loopback-programs.ts';
import { within } from './within.ts';

/** How long the other end of a connection may take nothing before what was written to it is dropped. */
const LEAVE_MS = 2_000;
/** No first line of ours is longer. */
const MAX_LINE_BYTES = 4096;

/**
 * Reads the first line of a program, and gives the rest of its stdout and its stdin as a stream. Disposing the stream ends the program, once it has
 * carried what was written.
 *
 * @returns the line without its newline, whole or as far as it came
 */
export async function firstLine(
  process: ProcessHandle,
): Promise<{ readonly line: string; readonly stream: ByteStream }> {
  const chunks = process[Symbol.asyncIterator]();
  let said: Uint8Array = new Uint8Array();
  let end = -1;
  let complaint = ''; // of a program that is done already: an engine may pass it on before the first line
  while (end < 0 && said.length < MAX_LINE_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    if (next.value.type === 'stdout-data') said = joinBytes([said, next.value.bytes]);
    else complaint = withMore(complaint, next.value.bytes);
    end = said.indexOf(0x0a);
  }
  const line = new TextDecoder().decode(said.subarray(0, end < 0 ? said.length : end));
  const early = end < 0 ? new Uint8Array() : said.slice(end + 1);
  return { line, stream: streamOf(process, chunks, early, complaint) };
}

function streamOf(
  process: ProcessHandle,
  chunks: AsyncIterator<{ readonly type: string; readonly bytes: Uint8Array }>,
  early: Uint8Array,
  saidEarly: string,
): ByteStream {
  let carriedBytes = early.length;
  let saidLast = saidEarly;
  let leaving: Promise<void> | undefined;
  const over = () => (leaving ??= leave(process));
  const isWhole = () => {
    const [, bytes] = ORDERLY.exec(saidLast) ?? [];
    return bytes !== undefined && carriedBytes >= Number(bytes);
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (early.length > 0) controller.enqueue(early);
      },
      async pull(controller) {
        for (;;) {
          if (isWhole()) return controller.close();
          const next = await chunks.next();
          if (next.done) return controller.error(new Error('ECONNRESET: the connection was reset'));
          const { type, bytes } = next.value;
          if (type === 'stdout-data') {
            carriedBytes += bytes.length;
            return controller.enqueue(new Uint8Array(bytes));
          }
          saidLast = withMore(saidLast, bytes);
        }
      },
      cancel: () => over(),
    },
    { highWaterMark: 0 },
  );
  const writable = new WritableStream<Uint8Array>({
    write: (bytes) => process.write(bytes),
    close: () => process.closeStdin(),
    abort: () => over(),
  });
  return { readable, writable, [Symbol.asyncDispose]: async () => await over() };
}

const withMore = (text: string, bytes: Uint8Array): string =>
  `${text}${new TextDecoder().decode(bytes)}`.slice(0, MAX_LINE_BYTES);

/** Lets a program carry what was written, as a socket does that is closed, and ends it when it does not. */
async function leave(process: ProcessHandle): Promise<void> {
  try {
    await process.closeStdin();
    await process.kill('SIGTERM');
    await within(LEAVE_MS, process.exit);
  } finally {
    await closeQuietly(process);
  }
}
