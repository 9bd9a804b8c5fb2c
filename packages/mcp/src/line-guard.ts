import { Transform, type TransformCallback } from 'node:stream';
import { isTooDeep } from './json-depth.ts';

const NEWLINE = 10;

/** Why a line was not let through. */
export type LineFault = 'too-long' | 'too-deep' | 'no-json' | 'no-message';

/**
 * Lets messages of JSON-RPC 2.0 through, a line each, as they are. Drops lines that are longer or deeper than allowed, because what reads
 * them would have to keep them whole, and those that are no such message, which the transport behind it would pass over in silence.
 *
 * @param onDropped told once for each dropped line; of one that is too long as soon as it is
 */
export class LineGuard extends Transform {
  readonly #maxBytes: number;
  readonly #onDropped: (fault: LineFault) => void;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isDropping = false;

  constructor(maxBytes: number, onDropped: (fault: LineFault) => void) {
    super();
    this.#maxBytes = maxBytes;
    this.#onDropped = onDropped;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, end + 1));
      if (!this.#isDropping) this.#flushLine();
      this.#isDropping = false;
      from = end + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
    done();
  }

  #take(part: Buffer): void {
    if (this.#isDropping) return;
    if (this.#pendingBytes + part.length <= this.#maxBytes) {
      this.#pending.push(part);
      this.#pendingBytes += part.length;
      return;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#isDropping = true;
    this.#onDropped('too-long');
  }

  #flushLine(): void {
    const [only] = this.#pending;
    const line = this.#pending.length === 1 && only ? only : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    const fault = isTooDeep(line) ? 'too-deep' : faultOf(line.toString());
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
