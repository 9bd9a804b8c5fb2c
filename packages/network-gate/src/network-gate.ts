import type { ByteStream, Clock, NetworkGate } from '@litterbox/core/provider';
import { refusalBytes } from './answer.ts';
import { boundedReports } from './bounded-reports.ts';
import { GateConnection, type GateParts } from './gate-connection.ts';
import { HourlyBudget } from './hourly-budget.ts';
import { type Reach, USUAL_REACH, within } from './reach-host.ts';
import { WildcardBudget } from './wildcard-budget.ts';

/** How much may go through a gate, and how it gets out. */
export interface NetworkGateOptions {
  readonly clock: Clock;
  /** To one host within an hour, in bytes; what comes from there is not bounded. @defaultValue 10 MiB */
  readonly maxSentBytes?: number;
  /** Different names below one wildcard within an hour. @defaultValue 64 */
  readonly maxWildcardNames?: number;
  /** At once. @defaultValue 64 */
  readonly maxConnections?: number;
  /** @defaultValue this machine's resolver and sockets */
  readonly reach?: Partial<Reach>;
}

const MAX_REPORTS_PER_MINUTE = 120;
const ANSWER_MS = 1_000;

/** The way out by a list, from this machine. Does nothing before a connection comes. */
export function networkGate(options: NetworkGateOptions): NetworkGate {
  const { clock, maxSentBytes = 10 * 2 ** 20, maxWildcardNames = 64, maxConnections = 64 } = options;
  const nowMs = () => clock.monotonicMs();
  return {
    async open(policy, onReport) {
      const { report, flush } = boundedReports(onReport, MAX_REPORTS_PER_MINUTE, nowMs);
      const closing = new AbortController();
      const parts: GateParts = {
        policy,
        clock,
        report,
        reach: { ...USUAL_REACH, ...options.reach },
        names: new WildcardBudget(maxWildcardNames, nowMs),
        sending: new HourlyBudget(maxSentBytes, nowMs),
      };
      const open = new Map<ByteStream, Promise<void>>();
      const answer = async (stream: ByteStream) => {
        try {
          if (closing.signal.aborted) return;
          if (open.size > maxConnections) return await refuseAtOnce(stream, parts, closing.signal);
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
          flush();
        },
      };
    },
  };
}

async function refuseAtOnce(stream: ByteStream, { report, clock }: GateParts, signal: AbortSignal): Promise<void> {
  const reason = 'too many connections are open at once';
  report({ type: 'refused', reason });
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  // Who does not read it is not waited for.
  await within(ANSWER_MS, clock, signal, async () => {
    await writer.write(refusalBytes({ status: 503, reason }));
    await writer.close();
  }).catch(() => {});
}
