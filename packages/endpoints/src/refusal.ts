import type { ServerResponse } from 'node:http';

/** Why a request is not carried, or its answer not given. */
export interface Refusal {
  /** A status of HTTP. */
  readonly status: 400 | 402 | 403 | 404 | 405 | 421 | 429 | 502 | 503 | 504;
  /** One sentence of ours, in ASCII. */
  readonly reason: string;
}

/**
 * Tells a program inside. The form is that of errors of Anthropic, and its `error` has what those of OpenAI have, so that an agent shows
 * the sentence to its person.
 */
export function answerRefusal(response: ServerResponse, { status, reason }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const message = `litterbox: ${reason}.`;
  const spent = { type: 'billing_error', code: 'insufficient_quota', status: 'RESOURCE_EXHAUSTED' };
  const error = { ...(status === 402 ? spent : { type: 'litterbox_error', code: 'litterbox' }), message };
  const body = JSON.stringify({ type: 'error', error });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...(status === 402 && { 'x-should-retry': 'false' }),
    ...(status === 429 && { 'retry-after': '60' }),
  });
  response.end(body);
}
