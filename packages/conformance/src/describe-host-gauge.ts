import assert from 'node:assert/strict';
import { type HostGauge, isLitterboxError } from '@litterbox/core/provider';
import type { TestRunner } from './runner.ts';

/** What {@link describeHostGauge} needs to know of a gauge. */
export interface HostGaugeOptions {
  readonly name: string;
  readonly runner: TestRunner;
  readonly open: () => Promise<HostGauge>;
  /** Name of a machine that answers. */
  readonly there: string;
  /** Name of a machine that never does. */
  readonly silent: string;
  /** Milliseconds per test. @defaultValue 60_000 */
  readonly timeoutMs?: number;
}

/** The contract of `HostGauge`, executable. */
export function describeHostGauge(options: HostGaugeOptions): void {
  const { name, runner, open, there, silent, timeoutMs = 60_000 } = options;
  runner.describe(`HostGauge contract: ${name}`, () => {
    const check = (title: string, body: (gauge: HostGauge) => Promise<void>) =>
      runner.it(title, async () => await body(await open()), timeoutMs);

    check('what a machine tells holds together', async (gauge) => {
      const { memoryBytes, availableBytes, processors, load, roundTripMs } = await gauge.measure(there);
      assert.ok(Number.isSafeInteger(memoryBytes) && memoryBytes > 0, `memoryBytes is ${memoryBytes}`);
      assert.ok(availableBytes >= 0 && availableBytes <= memoryBytes, `availableBytes is ${availableBytes}`);
      assert.ok(Number.isSafeInteger(processors) && processors > 0, `processors is ${processors}`);
      assert.ok(Number.isFinite(load) && load >= 0, `load is ${load}`);
      assert.ok(Number.isFinite(roundTripMs) && roundTripMs >= 0, `roundTripMs is ${roundTripMs}`);
    });

    check('it can be asked of several at once, and one that is silent holds up no other', async (gauge) => {
      const over = new AbortController();
      const waiting = gauge.measure(silent, { signal: over.signal });
      waiting.catch(() => {}); // it is awaited below
      const [one, other] = await Promise.all([gauge.measure(there), gauge.measure(there)]);
      assert.equal(one.memoryBytes, other.memoryBytes);
      over.abort(new Error('enough'));
      await assert.rejects(waiting);
    });

    check('who gives up is told the own reason', async (gauge) => {
      const reason = new Error('mine');
      await assert.rejects(gauge.measure(there, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
      const over = new AbortController();
      const waiting = assert.rejects(gauge.measure(silent, { signal: over.signal }), (error) => error === reason);
      over.abort(reason);
      await waiting;
    });

    check('a name that no machine has is a mistake, and no machine that is down', async (gauge) => {
      await assert.rejects(
        gauge.measure('no-such-machine'),
        (error) => isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'INVALID_ARGUMENT'),
      );
    });
  });
}
