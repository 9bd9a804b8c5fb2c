import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';

/** The first bytes that Node's own TLS sends. */
export function clientHelloOf(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        resolve(Buffer.from(chunk));
        done();
      },
    });
    const client = connect({ ...options, socket });
    client.on('error', () => {});
    client.once('close', () => socket.destroy());
    setImmediate(() => client.destroy());
  });
}
