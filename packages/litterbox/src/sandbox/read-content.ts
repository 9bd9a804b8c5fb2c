import { LitterboxError } from '@litterbox/core';

/** Text, bytes, or a stream of either. Text is UTF-8. */
export type Content = string | Uint8Array | ReadableStream<Uint8Array | string>;

/** As much as a file of a sandbox may have. */
const MAX_CONTENT_BYTES = 64 * 2 ** 20;

/**
 * Reads a content to its end.
 *
 * @throws LitterboxError `FILE_TOO_LARGE` before more than 64 MiB are kept, the reason of an aborted signal, and what the stream fails with
 */
export async function readContent(content: Content, signal?: AbortSignal): Promise<string | Uint8Array> {
  if (!(content instanceof ReadableStream)) return content;
  const encoder = new TextEncoder();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const whole = new WritableStream<Uint8Array | string>({
    write(part) {
      const bytes = typeof part === 'string' ? encoder.encode(part) : Uint8Array.from(part);
      length += bytes.length;
      if (length > MAX_CONTENT_BYTES)
        throw new LitterboxError('FILE_TOO_LARGE', `The stream is longer than ${MAX_CONTENT_BYTES} bytes.`, {
          operation: 'sandbox.read-content',
          hint: 'Give it to a command that spawn started, piece by piece.',
        });
      parts.push(bytes);
    },
  });
  await content.pipeTo(whole, signal ? { signal } : {});
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
