import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { type Host } from '@litterbox/core/provider';
import { duplexOf } from './duplex-of.ts';

type Connected = (error: Error | null, stream?: Duplex) => void;

/**
 * How long a connection is kept that nobody uses, in milliseconds: long enough for the next question of one call, and shorter than any
 * engine keeps it. It holds the program that long, unless somebody ends what is idle.
 */
const IDLE_MS = 2_000;

/**
 * Connections of an HTTP client to a Unix socket of a host, wherever that host is. A connection is kept for the next question: to a
 * machine that is far away, making one takes as long as asking.
 */
export class HostAgent extends Agent {
  readonly #host: Host;
  readonly #path: string;
  readonly #idle = new WeakMap<Duplex, ReturnType<typeof setTimeout>>();

  constructor(host: Host, path: string) {
    super({ keepAlive: true });
    this.#host = host;
    this.#path = path;
  }

  override createConnection(_options: ClientRequestArgs, connected: Connected): undefined {
    this.#host.connect({ path: this.#path }).then(
      (stream) => connected(null, duplexOf(stream)),
      (error: Error) => connected(error),
    );
    return undefined;
  }

  /** Node's own sets options of TCP, which these connections do not have. */
  override keepSocketAlive(connection: Duplex): boolean {
    this.#idle.set(
      connection,
      setTimeout(() => connection.destroy(), IDLE_MS),
    );
    return true;
  }

  override reuseSocket(connection: Duplex, request: ClientRequest): void {
    clearTimeout(this.#idle.get(connection));
    // Node takes its listeners of an idle connection away, and has a socket hold the program again: these hold it anyway.
    super.reuseSocket(Object.assign(connection, { ref: () => connection }), request);
  }

  /** Ends the connections that are kept. */
  closeIdle(): void {
    for (const connection of Object.values(this.freeSockets).flat()) connection?.destroy();
  }

  /** One word: docker-modem 5.0.6 makes a text of this agent and all that it has open with every request, though nobody reads it. */
  [inspect.custom](): string {
    return 'HostAgent';
  }
}
