import type { ClientRequest, IncomingMessage } from 'node:http';

/** Far more than any answer of an engine takes, a pull's many lines included. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;
/** Of these the answer is a program's output, which is read as it comes. */
const STREAMED = /\/exec\/[^/]+\/start(?:$|\?)/;

/**
 * Ends the connection of an answer that has no end: the client library holds all of an answer before it is read, and an engine can be a program on
 * another machine that sends what it likes.
 */
export function boundAnswer(request: ClientRequest, maxBytes = MAX_ANSWER_BYTES): void {
  if (STREAMED.test(request.path)) return;
  request.once('response', (response: IncomingMessage) => {
    const push = response.push.bind(response);
    let bytes = 0;
    response.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
      bytes += chunk?.length ?? 0;
      if (bytes <= maxBytes) return push(chunk, encoding);
      response.destroy();
      // Node tells the response alone, to which the client library does not listen.
      request.emit('error', new Error(`an answer of more than ${maxBytes} bytes`));
      return false;
    };
  });
}
