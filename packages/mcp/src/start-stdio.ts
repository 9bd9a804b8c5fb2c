import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './build-server.ts';
import { MAX_DEPTH } from './json-depth.ts';
import { type LineFault, LineGuard } from './line-guard.ts';
import { makeOffer } from './make-offer.ts';
import type { McpOptions } from './mcp-options.ts';

/** A message is kept whole while it is read: no file of a call may be larger than that. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
/** JSON-RPC's codes. @see https://www.jsonrpc.org/specification#error_object */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const REFUSALS: Readonly<Record<LineFault, readonly [code: number, message: string]>> = {
  'too-long': [
    INVALID_REQUEST,
    `A message is larger than ${MAX_MESSAGE_BYTES} bytes. Make large files by commands in the sandbox.`,
  ],
  'too-deep': [INVALID_REQUEST, `A message has more than ${MAX_DEPTH} levels of objects and arrays.`],
  'no-json': [PARSE_ERROR, 'A message is not JSON.'],
  'no-message': [INVALID_REQUEST, 'A message is not one of JSON-RPC 2.0.'],
};

/** Serves one client over standard input and output until it goes. Nothing else may write to standard output. */
export async function startStdio(options: McpOptions): Promise<void> {
  const offer = await makeOffer(options);
  const refuse = (code: number, message: string) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  const guard = new LineGuard(MAX_MESSAGE_BYTES, (fault) => refuse(...REFUSALS[fault]));
  const transport = new StdioServerTransport(process.stdin.pipe(guard), process.stdout, {
    maxBufferSize: 2 * MAX_MESSAGE_BYTES,
  });
  const gone = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
    guard.once('end', resolve);
    process.stdout.once('error', () => resolve()); // nobody reads any more
  });
  const server = serveStdio(() => buildServer(offer), {
    transport,
    onerror(error) {
      console.error(`litterbox mcp: ${error.message}`);
    },
  });
  await gone;
  process.stdin.unpipe(guard).destroy(); // an open input would keep this process alive
  await offer.litterbox[Symbol.asyncDispose](); // takes back the calls that go on; what they did is recorded before they end
  await server.close();
}
