import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import type { ConnectEngine } from '../address/connect-engine.ts';
import { boundAnswer } from './bound-answer.ts';

const { addRequest: ADD_REQUEST } = Agent.prototype as unknown as {
  addRequest(this: Agent, request: ClientRequest, ...rest: readonly unknown[]): void;
};

type Connected = (error: Error | null, stream?: Duplex) => void;

/**
 * How long a connection is kept that nobody uses, in milliseconds: long enough for the next question of one call, and shorter than any
 * engine keeps it. It holds the program that long, unless somebody ends what is idle.
 */
const IDLE_MS = 2_000;
/** How long one may take to be made: as long as an engine may take to say that it is there. */
const CONNECT_MS = 8_000;

/**
 * Connections of an HTTP client to an engine, wherever that is. A connection is kept for the next question: to a
 * machine that is far away, making one takes as long as asking.
 */
export class HostAgent extends Agent {
  readonly #connect: ConnectEngine;
  readonly #maxAnswerBytes: number | undefined;
  readonly #over = new AbortController();
  readonly #idle = new WeakMap<Duplex, ReturnType<typeof setTimeout>>();

  /** @param maxAnswerBytes how long an answer may be at most. @defaultValue far more than any answer of an engine */
  constructor(connect: ConnectEngine, maxAnswerBytes?: number) {
    super({ keepAlive: true });
    this.#connect = connect;
    this.#maxAnswerBytes = maxAnswerBytes;
  }

  override createConnection(_options: ClientRequestArgs, connected: Connected): undefined {
    this.#connect(AbortSignal.any([AbortSignal.timeout(CONNECT_MS), this.#over.signal])).then(
      (stream) => connected(null, stream),
      (error: Error) => connected(error),
    );
    return undefined;
  }

  /** What Node's client calls with each request: its types leave that out. @see https://github.com/nodejs/node/blob/main/lib/_http_agent.js */
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void {
    boundAnswer(request, this.#maxAnswerBytes);
    ADD_REQUEST.call(this, request, ...rest);
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

  /** Ends what is being made, and makes no more. */
  giveUp(): void {
    this.#over.abort(new Error('The engine is not asked any more.'));
  }

  /** One word: docker-modem 5.0.6 makes a text of this agent and all that it has open with every request, though nobody reads it. */
  [inspect.custom](): string {
    return 'HostAgent';
  }
}
