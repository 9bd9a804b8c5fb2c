import { Agent, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { type Host } from '@litterbox/core/provider';
import { duplexOf } from './duplex-of.ts';

type Connected = (error: Error | null, stream?: Duplex) => void;

/** Connections of an HTTP client to a Unix socket of a host, wherever that host is. */
export class HostAgent extends Agent {
  readonly #host: Host;
  readonly #path: string;

  constructor(host: Host, path: string) {
    super({ keepAlive: false });
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

  /** One word: docker-modem 5.0.6 makes a text of this agent and all that it has open with every request, though nobody reads it. */
  [inspect.custom](): string {
    return 'HostAgent';
  }
}
