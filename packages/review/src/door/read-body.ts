import type { IncomingMessage } from 'node:http';
import { LitterboxError } from '@litterbox/core';

/** Some ten files in conflict, each as long as a page edits it. */
const MAX_MEBIBYTES = 8;

/** The body as JSON. @throws LitterboxError where it is none, or too long: a part of it would be another question */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Read to its end in any case: who leaves before gets no answer across.
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes <= MAX_MEBIBYTES * 2 ** 20) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > MAX_MEBIBYTES * 2 ** 20)
    throw refused('ARG_RANGE', `The page asked with more than ${MAX_MEBIBYTES} MiB.`, 'Take fewer files at once.');
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw refused('ARG_TYPE', 'The page asked with what is no JSON.', 'Reload the page.');
  }
}

const refused = (code: 'ARG_RANGE' | 'ARG_TYPE', message: string, hint: string) =>
  new LitterboxError(code, message, { operation: 'review.ask', hint });
