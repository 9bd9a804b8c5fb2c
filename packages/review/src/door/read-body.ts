import type { IncomingMessage } from 'node:http';

/** Some ten files in conflict, each as long as a page edits it. */
const MAX_BYTES = 8 * 2 ** 20;

/** The body as JSON. Undefined where it is none, or too long. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
