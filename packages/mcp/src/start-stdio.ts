import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './build-server.ts';
import { LineGuard } from './line-guard.ts';
import { makeOffer } from './make-offer.ts';
import type { McpOptions } from './mcp-options.ts';

/** A message is kept whole while it is read: no file of a call may be larger than that. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
/** JSON-RPC's codes. @see https://www.jsonrpc.org/specification#error_object */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** Serves one client over standard input and output until it goes. Nothing else may write to standard output. */
export async function startStdio(options: McpOptions): Promise<void> {
  const offer = await makeOffer(options);
  const refuse = (code: number, message: string) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  const guard = new LineGuard(MAX_MESSAGE_BYTES, () =>
    refuse(INVALID_REQUEST, `A message is larger than ${MAX_MESSAGE_BYTES} bytes. Write large files with bash.`),
  );
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
      if (error instanceof SyntaxError) refuse(PARSE_ERROR, 'A message is not JSON.');
      else if (error.name === 'ZodError' || error.name === '$ZodError')
        refuse(INVALID_REQUEST, 'A message is not a request of JSON-RPC 2.0.');
      else console.error(`litterbox mcp: ${error.message}`);
    },
  });
  await gone;
  await server.close(); // takes back the calls that are going on; what they changed is recorded before they end
  await offer.litterbox[Symbol.asyncDispose]();
}
