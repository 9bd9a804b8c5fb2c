import type { ByteStream } from '../common/byte-stream.ts';
import type { CallOptions } from '../common/call.ts';

/** A port of this machine that leads somewhere. Disposing closes it and all its connections. */
export interface Forward extends AsyncDisposable {
  /** The number on 127.0.0.1, and on ::1 where the machine has one. */
  readonly port: number;
}

/**
 * Listens on this machine's loopback and carries each connection on, both ways, each direction ending by itself. It holds no more
 * of what goes through than its buffers, and bounds the connections at once.
 */
export interface PortForwarder {
  /** A number that no program listens on now, chosen at random; none of `without`. */
  free(without: ReadonlySet<number>, options?: CallOptions): Promise<number>;
  /**
   * @param open where a connection leads; one for which it rejects is reset
   * @throws LitterboxError `PORT_TAKEN` when another program has the number.
   */
  listen(port: number, open: () => Promise<ByteStream>, options?: CallOptions): Promise<Forward>;
}
