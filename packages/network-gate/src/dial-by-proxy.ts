import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type UpstreamProxy } from '@litterbox/core/provider';
import type { Destination, Refusal } from './parse-connect.ts';

const MAX_ANSWER_BYTES = 16_384;
const END = '\r\n\r\n';

/**
 * Asks a proxy of the person's for a connection (RFC 9110, 9.3.6). It looks the name up and chooses the address: nothing is known of that here.
 *
 * @throws whatever says that the proxy cannot be reached, or went away
 */
export async function dialByProxy(
  { host: proxyHost, port: proxyPort, authorization }: UpstreamProxy,
  { host, port }: Destination,
  dial: (host: string, port: number, signal: AbortSignal) => Promise<Duplex>,
  signal: AbortSignal,
): Promise<{ readonly socket: Duplex; readonly address: string } | Refusal> {
  const socket = await dial(proxyHost, proxyPort, signal);
  const abort = () => socket.destroy(new Error('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    const head = [`CONNECT ${host}:${port} HTTP/1.1`, `Host: ${host}:${port}`];
    if (authorization !== undefined) head.push(`Proxy-Authorization: ${authorization}`);
    socket.write(`${head.join('\r\n')}${END}`);
    const answer = await readHead(socket);
    const [, status = ''] = /^HTTP\/1\.[01] ([0-9]{3})(?: |\r)/.exec(answer) ?? [];
    if (status.startsWith('2'))
      return { socket, address: (socket instanceof Socket && socket.remoteAddress) || proxyHost };
    socket.destroy();
    const said = status === '' ? 'no HTTP' : status;
    return {
      status: 502,
      reason: `the proxy that this machine uses (${proxyHost}:${proxyPort}) answered ${said} for ${host}`,
    };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Up to the blank line; what came after it is the socket's again. */
async function readHead(socket: Duplex): Promise<string> {
  let bytes: Buffer = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf(END);
    if (end >= 0) {
      const rest = bytes.subarray(end + END.length);
      if (rest.length > 0) socket.unshift(rest);
      return `${bytes.toString('latin1', 0, end)}\r`;
    }
    if (bytes.length > MAX_ANSWER_BYTES) throw new Error('the answer of the proxy has no end');
  }
  throw new Error('the proxy went away');
}
