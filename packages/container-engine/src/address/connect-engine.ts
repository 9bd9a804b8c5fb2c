import { once } from 'node:events';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Host } from '@litterbox/core/provider';
import { duplexOf } from './duplex-of.ts';
import type { EngineAddress, EngineTls } from './engine-address.ts';

/** Opens one connection to an engine. Aborting ends what was opened so far. */
export type ConnectEngine = (signal: AbortSignal) => Promise<Duplex>;

/** @param host has the socket, or is where the port is reached from */
export function connectEngine(host: Host, address: Exclude<EngineAddress, { type: 'ssh' }>): ConnectEngine {
  return async (signal) => {
    if (address.type === 'unix') return duplexOf(await host.connect({ path: address.path }, { signal }));
    const stream = duplexOf(await host.connect({ host: address.host, port: address.port }, { signal }));
    return address.tls ? await secured(stream, address.host, address.tls, signal) : stream;
  };
}

/** TLS over a stream, whose other end has shown that it is the one that is meant. */
async function secured(
  stream: Duplex,
  host: string,
  { ca, cert, key }: EngineTls,
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    const socket = connectTls({
      socket: stream,
      host,
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca && { ca: Buffer.from(ca) }),
      ...(cert && key && { cert: Buffer.from(cert), key: Buffer.from(key) }),
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true, // a variable of the environment can make Node's default another one
    });
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    stream.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}
