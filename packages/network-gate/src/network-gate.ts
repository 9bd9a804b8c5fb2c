import { type ByteStream, type Clock, type NetworkGate, upstreamProxyOf } from '@litterbox/core/provider';
import { refusalBytes } from './answer.ts';
import { GateAccount, type GateLimits } from './gate-account.ts';
import { GateConnection, type GateParts } from './gate-connection.ts';
import { reachFrom } from './reach-from.ts';
import { type Reach, USUAL_REACH, within } from './reach-host.ts';
import { Turns } from './turns.ts';

/** How much may go through a gate, and how it gets out. */
export interface NetworkGateOptions extends Partial<GateLimits> {
  readonly clock: Clock;
  /** To one host within an hour, in bytes; what comes from there is not bounded. @defaultValue 10 MiB */
  readonly maxSentBytes?: number;
  /** Different names below one wildcard within an hour. @defaultValue 64 */
  readonly maxWildcardNames?: number;
  /** That are looked up and dialled within a minute; more are refused. @defaultValue 300 */
  readonly maxConnectionsPerMinute?: number;
  /** From inside, within a second, after as many as may be open at once; more wait. @defaultValue 20 */
  readonly maxRequestsPerSecond?: number;
  /** At once. @defaultValue 64 */
  readonly maxConnections?: number;
  /** Where a proxy above is looked for, as programs do: `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`. @defaultValue nothing, so there is none */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** @defaultValue this machine's resolver and sockets */
  readonly reach?: Partial<Reach>;
}

const ANSWER_MS = 1_000;

/** The way out by a list, from this machine. Does nothing before a connection comes. */
export function networkGate(options: NetworkGateOptions): NetworkGate {
  const { clock, maxConnections = 64, maxRequestsPerSecond = 20 } = options;
  const limits: GateLimits = {
    maxSentBytes: options.maxSentBytes ?? 10 * 2 ** 20,
    maxWildcardNames: options.maxWildcardNames ?? 64,
    maxConnectionsPerMinute: options.maxConnectionsPerMinute ?? 300,
  };
  return {
    async open(policy, books, from) {
      const usual = from ? reachFrom(from) : { upstream: upstreamProxyOf(options.environment ?? {}) };
      const closing = new AbortController();
      const account = new GateAccount(books, limits, () => clock.monotonicMs());
      const turns = new Turns(maxConnections, maxRequestsPerSecond, clock);
      const reach = { ...USUAL_REACH, ...usual, ...options.reach };
      const parts: GateParts = { policy, clock, account, reach, ...(from && { from: from.name }) };
      const open = new Map<ByteStream, Promise<void>>();
      const answer = async (stream: ByteStream) => {
        try {
          if (closing.signal.aborted) return;
          if (open.size > maxConnections) return await refuseAtOnce(stream, parts, closing.signal);
          await turns.next(closing.signal);
          await new GateConnection(parts, stream, closing.signal).run();
        } catch {
          // The program inside went away.
        } finally {
          await stream[Symbol.asyncDispose]();
        }
      };
      return {
        async serve(stream) {
          const { promise, resolve } = Promise.withResolvers<void>();
          open.set(stream, promise);
          try {
            await answer(stream);
          } catch {
            // A connection that cannot even be closed is nobody's any more.
          } finally {
            open.delete(stream);
            resolve();
          }
        },
        async [Symbol.asyncDispose]() {
          closing.abort();
          for (const stream of open.keys()) void stream[Symbol.asyncDispose]().then(undefined, () => {});
          await Promise.all(open.values());
          account.flush();
        },
      };
    },
  };
}

async function refuseAtOnce(stream: ByteStream, { account, clock }: GateParts, signal: AbortSignal): Promise<void> {
  const reason = 'too many connections are open at once';
  account.refused({ type: 'refused', reason });
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  // Who does not read it is not waited for.
  await within(ANSWER_MS, clock, signal, async () => {
    await writer.write(refusalBytes({ status: 503, reason }));
    await writer.close();
  }).catch(() => {});
}
