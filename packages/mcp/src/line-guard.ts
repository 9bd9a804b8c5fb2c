import { Transform, type TransformCallback } from 'node:stream';
import { LineSplitter } from '@litterbox/core/agent';
import { isTooDeep } from './json-depth.ts';

/** Why a line was not let through. */
export type LineFault = 'too-long' | 'too-deep' | 'no-json' | 'no-message';

/**
 * Lets messages of JSON-RPC 2.0 through, a line each, as they are. Drops lines that are longer or deeper than allowed, because what reads
 * them would have to keep them whole, and those that are no such message, which the transport behind it would pass over in silence.
 *
 * @param onDropped told once for each dropped line; of one that is too long as soon as it is
 */
export class LineGuard extends Transform {
  readonly #splitter: LineSplitter;
  readonly #onDropped: (fault: LineFault) => void;

  constructor(maxBytes: number, onDropped: (fault: LineFault) => void) {
    super();
    this.#onDropped = onDropped;
    this.#splitter = new LineSplitter(
      maxBytes,
      (line) => this.#judge(line),
      () => onDropped('too-long'),
    );
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#splitter.take(chunk);
    done();
  }

  #judge(line: Uint8Array): void {
    const fault = isTooDeep(line) ? 'too-deep' : faultOf(new TextDecoder().decode(line));
    if (fault === undefined) this.push(line);
    else this.#onDropped(fault);
  }
}

/** @see https://www.jsonrpc.org/specification; batches are not part of the Model Context Protocol. */
function faultOf(line: string): LineFault | undefined {
  if (line.trim() === '') return undefined; // nobody's mistake
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return 'no-json';
  }
  if (typeof message !== 'object' || message === null || !('jsonrpc' in message) || message.jsonrpc !== '2.0')
    return 'no-message';
  const isRequest = 'method' in message && typeof message.method === 'string';
  // What reads behind this would pass over an id of another type, and the client would wait for ever.
  if (isRequest && 'id' in message && !['string', 'number'].includes(typeof message.id)) return 'no-message';
  return isRequest || 'result' in message || 'error' in message ? undefined : 'no-message';
}
