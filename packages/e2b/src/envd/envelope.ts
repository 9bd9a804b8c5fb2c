import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { LitterboxError } from 'litterbox';
import type { Failure } from '../door/failure.ts';

/** A message of a stream in Connect begins with a byte of flags and its length in four bytes, the highest first. */
const HEAD_BYTES = 5;
const [COMPRESSED, END] = [1, 2];

/** The one message that a client sends for a stream of answers. @throws LitterboxError `INVALID_ARGUMENT`, `UNSUPPORTED` */
export function openEnvelope(body: Buffer): Buffer {
  const refuse = (what: string) => new LitterboxError('INVALID_ARGUMENT', what, { operation: 'e2b.read' });
  if (body.length < HEAD_BYTES) throw refuse('The body of the request holds no message.');
  if (((body[0] ?? 0) & COMPRESSED) !== 0)
    throw new LitterboxError('UNSUPPORTED', 'Compressed messages are not read here.', { operation: 'e2b.read' });
  if (body.readUInt32BE(1) !== body.length - HEAD_BYTES) throw refuse('The length of the message is not what it says.');
  return body.subarray(HEAD_BYTES);
}

function sealed(flags: number, message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = flags;
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

/** Messages as a client that follows gets them. After the client has gone everything goes nowhere. */
export class AnswerStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, { 'content-type': 'application/connect+json' });
    response.flushHeaders();
  }

  /** Resolves when the client has room for more, or is gone. */
  async send(message: object): Promise<void> {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    if (response.write(sealed(0, message))) return;
    const left = new AbortController();
    await Promise.race(['drain', 'close'].map(async (name) => await once(response, name, left))).catch(() => {});
    left.abort();
  }

  /** Says that the stream is there still, where the client reads at all. */
  async keepAlive(): Promise<void> {
    if (!this.#response.writableNeedDrain) await this.send({});
  }

  /** @param failure is told last; without one it ended well */
  end(failure?: Failure): void {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    response.end(sealed(END, failure ? { error: { code: failure.code, message: failure.message } } : {}));
  }
}
