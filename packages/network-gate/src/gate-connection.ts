import type { Duplex } from 'node:stream';
import { type ByteStream, type Clock, type GatePolicy } from '@litterbox/core/provider';
import { ESTABLISHED, refusalBytes } from './answer.ts';
import { findRule, type Verdict } from './find-rule.ts';
import type { GateAccount } from './gate-account.ts';
import { type Destination, MAX_HEAD_BYTES, parseConnect, type Refusal } from './parse-connect.ts';
import { type Reach, reachHost, type Unreached, within } from './reach-host.ts';
import { isRetryRequest } from './is-retry-request.ts';
import { type HelloState, readClientHello } from './read-client-hello.ts';
import { readSecondHello } from './read-second-hello.ts';

/** Until a whole request is there, and again until a whole hello is. */
const READ_MS = 5_000;
/** Both ways silent for so long: whoever is still there asks again. */
const IDLE_MS = 10 * 60_000;

const UNWRITTEN = 'what goes out cannot be written down at the moment, for example because the disk is full';

/** What all connections of one gate share. */
export interface GateParts {
  readonly policy: GatePolicy;
  readonly reach: Reach;
  /** The machine from which it is dialled, where that is not this one. */
  readonly from?: string;
  readonly clock: Clock;
  readonly account: GateAccount;
}

/** One connection from inside, from its first byte to its end. */
export class GateConnection {
  readonly #parts: GateParts;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #signal: AbortSignal;
  /** Read and not yet used. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(parts: GateParts, stream: ByteStream, signal: AbortSignal) {
    this.#parts = parts;
    this.#reader = stream.readable.getReader();
    this.#writer = stream.writable.getWriter();
    this.#signal = signal;
    this.#writer.closed.catch(() => {}); // told by the write that fails
    this.#reader.closed.catch(() => {});
  }

  async run(): Promise<void> {
    const destination = await this.#destination();
    if (!destination) return;
    const allowed = this.#allowedBy(destination);
    if ('refusal' in allowed) return await this.#refuse(allowed.refusal, destination, allowed);
    const { rule, isWildcard, mayBePrivate } = allowed;
    const { account, reach, clock } = this.#parts;
    // From here on something is looked up, and so all of it is written down.
    let reason: string | undefined;
    try {
      reason = await account.admit(destination, rule, isWildcard);
    } catch {
      return await this.#refuse({ status: 503, reason: UNWRITTEN }, destination, { rule });
    }
    if (reason !== undefined) return await this.#refuse({ status: 429, reason }, destination, { rule });
    const reached = await reachHost(destination, reach, clock, this.#signal, mayBePrivate);
    if (!('socket' in reached)) {
      this.#noted(destination, rule, reached);
      return await this.#answer(reached);
    }
    const { socket, address, isPrivate, proxy } = reached;
    socket.on('error', () => {}); // told by the read or the write that fails
    try {
      await this.#writer.write(ESTABLISHED);
      const hello = await this.#hello(readClientHello);
      if (hello.type === 'refused') return this.#noted(destination, rule, hello);
      if (hello.serverName !== destination.host)
        return this.#noted(destination, rule, { reason: 'its TLS hello names another server than it asked for' });
      // Before a byte is carried. When that cannot be written, it is not opened.
      const { from } = this.#parts;
      const where = {
        address,
        ...(from !== undefined && { from }),
        ...(isPrivate && { isPrivate }),
        ...(proxy !== undefined && { proxy }),
      };
      await account.report({ type: 'opened', ...destination, rule, ...where });
      await this.#carry(socket, destination, hello.byteLength);
    } finally {
      socket.destroy();
    }
  }

  async #destination(): Promise<Destination | undefined> {
    const head = await this.#head();
    if (head === undefined) return undefined; // it went away, and asked for nothing
    const parsed = typeof head === 'string' ? parseConnect(head) : head;
    if ('host' in parsed) return parsed;
    await this.#refuse(parsed);
    return undefined;
  }

  #allowedBy(
    destination: Destination,
  ):
    | Extract<Verdict, { isAllowed: true }>
    | { readonly refusal: Refusal; readonly missing?: Destination; readonly rule?: string } {
    const { host, port } = destination;
    const verdict = findRule(this.#parts.policy, destination);
    if (verdict.isAllowed) return verdict;
    if (verdict.rule !== undefined)
      return { refusal: { status: 403, reason: `${host} is denied by the rule ${verdict.rule}` }, rule: verdict.rule };
    const reason = `${host}:${port} is not on the list of what this sandbox may reach`;
    return { refusal: { status: 403, reason }, missing: destination };
  }

  /** The head of the request, as latin1. */
  async #head(): Promise<string | Refusal | undefined> {
    const reading = async (): Promise<string | Refusal | undefined> => {
      for (;;) {
        const end = this.#rest.indexOf('\r\n\r\n');
        if (end >= 0) {
          const head = this.#rest.toString('latin1', 0, end);
          this.#rest = this.#rest.subarray(end + 4);
          return head;
        }
        // A first byte of TLS or SOCKS: no head will ever come.
        const first = this.#rest[0];
        if (first !== undefined && (first < 0x41 || first > 0x5a))
          return { status: 400, reason: 'the request is not understood: this is a proxy for HTTPS by CONNECT' };
        if (this.#rest.length > MAX_HEAD_BYTES)
          return { status: 400, reason: `the request is longer than ${MAX_HEAD_BYTES} bytes` };
        if (!(await this.#more())) return undefined;
      }
    };
    return await within(READ_MS, this.#parts.clock, this.#signal, reading).catch(() => undefined);
  }

  async #hello(read: (bytes: Buffer) => HelloState): Promise<Exclude<HelloState, { type: 'incomplete' }>> {
    const reading = async (): Promise<Exclude<HelloState, { type: 'incomplete' }>> => {
      for (;;) {
        const state = read(this.#rest);
        if (state.type !== 'incomplete') return state;
        while (this.#rest.length < state.wantedBytes)
          if (!(await this.#more())) return { type: 'refused', reason: 'it ended before its TLS hello' };
      }
    };
    return await within(READ_MS, this.#parts.clock, this.#signal, reading).catch(() => ({
      type: 'refused' as const,
      reason: 'its TLS hello did not come in time',
    }));
  }

  /** False at the end. */
  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    this.#rest = Buffer.concat([this.#rest, value]);
    return true;
  }

  /** Writes down and answers what was refused before anything was looked up. */
  async #refuse(
    refusal: Refusal,
    destination?: Destination,
    { rule, missing }: { readonly rule?: string; readonly missing?: Destination } = {},
  ): Promise<void> {
    const { reason } = refusal;
    this.#parts.account.refused({ type: 'refused', ...destination, ...(rule !== undefined && { rule }), reason });
    await this.#answer(refusal, missing);
  }

  /** Writes down what was refused after a rule allowed it. */
  #noted(destination: Destination, rule: string, { reason, isPrivate, address }: Omit<Unreached, 'status'>): void {
    const report = {
      type: 'refused' as const,
      ...destination,
      rule,
      reason,
      ...(isPrivate && { isPrivate }),
      ...(address !== undefined && { address }),
    };
    this.#parts.account.report(report).catch(() => {}); // the books keep it
  }

  async #answer(refusal: Refusal, missing?: Destination): Promise<void> {
    // Who does not read the answer keeps nobody waiting.
    await within(READ_MS, this.#parts.clock, this.#signal, async () => {
      await this.#writer.write(refusalBytes(refusal, missing));
      await this.#writer.close();
    }).catch(() => {});
  }

  /** Both ways, each ending by itself, with no more in memory than the buffers of two sockets. @param helloBytes how long the hello is that was read */
  async #carry(socket: Duplex, { host, port }: Destination, helloBytes: number): Promise<void> {
    const count = { sentBytes: 0, receivedBytes: 0 };
    let reason: string | undefined;
    const cut = (why: string) => {
      reason ??= why;
      socket.destroy();
    };
    const abort = () => cut('the sandbox or its gate was stopped');
    this.#signal.addEventListener('abort', abort, { once: true });
    const idle = setTimeout(() => cut('nothing was sent for ten minutes'), IDLE_MS).unref();
    const send = async (bytes: Uint8Array) => {
      const mayBeSent = await this.#parts.account.send(host, bytes.length).catch(() => undefined);
      if (!mayBeSent) {
        cut(mayBeSent === undefined ? UNWRITTEN : 'more was sent to this host within an hour than is allowed');
        return false;
      }
      count.sentBytes += bytes.length;
      idle.refresh();
      if (!socket.write(bytes)) await drained(socket);
      return !socket.destroyed;
    };
    const { promise: asksAgain, resolve: answered } = Promise.withResolvers<boolean>();
    const sending = async () => {
      if (!(await send(this.#rest.subarray(0, helloBytes)))) return;
      this.#rest = this.#rest.subarray(helloBytes);
      if (this.#rest.length === 0 && !(await this.#more())) return void socket.end();
      // Nothing more before the server answers: it may ask for the hello once more, and go by what that one names.
      if (await asksAgain) {
        const second = await this.#hello(readSecondHello);
        if (second.type === 'refused') return cut(second.reason);
        if (second.serverName !== host) return cut('its second TLS hello names another server than it asked for');
      }
      if (!(await send(this.#rest))) return;
      this.#rest = Buffer.alloc(0);
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        if (!(await send(value))) return;
      }
      socket.end();
    };
    const receiving = async () => {
      let first: Buffer | undefined = Buffer.alloc(0);
      // Not the socket itself: its iterator would end both ways with the first.
      for await (const bytes of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (first) {
          first = Buffer.concat([first, bytes]);
          const isAsking = isRetryRequest(first);
          if (isAsking !== undefined) {
            answered(isAsking);
            first = undefined;
          }
        }
        count.receivedBytes += bytes.length;
        idle.refresh();
        await this.#writer.write(bytes);
      }
      answered(false); // it ended without
      await this.#writer.close();
    };
    const failed = () => socket.destroy();
    const closed = new Promise<void>((resolve) => socket.once('close', resolve));
    void closed.then(() => answered(false));
    const leaving = closed.then(() => this.#reader.cancel()).catch(() => {}); // a read that waits for who sends nothing
    await Promise.all([sending().catch(failed), receiving().catch(failed)]);
    socket.destroy();
    clearTimeout(idle);
    await leaving;
    this.#signal.removeEventListener('abort', abort);
    this.#parts.account
      .report({ type: 'closed', host, port, ...count, ...(reason !== undefined && { reason }) })
      .catch(() => {}); // the books keep it
  }
}

function drained(socket: Duplex): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
