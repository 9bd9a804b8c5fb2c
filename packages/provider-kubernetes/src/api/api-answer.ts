import type { IncomingMessage } from 'node:http';
import { ApiFailure } from './api-error.ts';

/** A list of 500 pods is smaller; nothing of a cluster is believed without a bound. */
export const MAX_ANSWER_BYTES = 32 * 2 ** 20;

/** Lines of an answer that goes on for ever, none without a bound. */
export async function* linesOf(answer: IncomingMessage): AsyncGenerator<string, void, undefined> {
  const rest: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      yield Buffer.concat([...rest.splice(0), chunk.subarray(from, end)]).toString('utf8');
      from = end + 1;
      bytes = 0;
    }
    rest.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`a line of more than ${MAX_ANSWER_BYTES} bytes`);
  }
}

/** All of an answer, as text. */
export async function readBounded(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      answer.destroy();
      throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The failure that an answer without success describes. */
export function failureOf(status: number, text: string): ApiFailure {
  try {
    const { reason, message } = JSON.parse(text) as { readonly reason?: unknown; readonly message?: unknown };
    return new ApiFailure(
      status,
      typeof reason === 'string' ? reason : '',
      typeof message === 'string' ? message : text,
    );
  } catch {
    return new ApiFailure(status, '', text.trim() === '' ? 'no reason given' : text);
  }
}

/** An answer as JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('an answer that is no JSON');
  }
}
