import { describe, expect, it } from '@jest/globals';
import { describeHostGauge, failureOf } from '@litterbox/conformance';
import type { HostGauge } from '@litterbox/core/provider';
import { memoryGauge } from '../src/index.ts';

const good = memoryGauge({ there: {}, silent: 'silent' });
const options = { there: 'there', silent: 'silent', runner: { describe, it } };

describeHostGauge({ ...options, name: 'machines in memory', open: async () => good });

/** Each breaks the contract in one point, and the kit has to say which. */
const BROKEN: readonly (readonly [what: string, gauge: HostGauge['measure'], title: string])[] = [
  [
    'offers more than there is',
    async (name, call) => ({ ...(await good.measure(name, call)), availableBytes: 2 ** 60 }),
    'what a machine tells holds together',
  ],
  [
    'knows no processors',
    async (name, call) => ({ ...(await good.measure(name, call)), processors: 0 }),
    'what a machine tells holds together',
  ],
  [
    'tells a load that is no number',
    async (name, call) => ({ ...(await good.measure(name, call)), load: Number.NaN }),
    'what a machine tells holds together',
  ],
  [
    'hears of no abort',
    async (name, call) => (name === 'silent' ? await good.measure(name, call) : await good.measure(name)),
    'who gives up is told the own reason',
  ],
  [
    'takes a mistake for a machine that is down',
    async (name, call) => await good.measure(name === 'no-such-machine' ? 'there' : name, call),
    'a name that no machine has is a mistake, and no machine that is down',
  ],
];

describe('broken gauges', () => {
  for (const [what, measure, title] of BROKEN)
    it(`one that ${what} is caught`, async () => {
      const failure = await failureOf(
        (runner) => describeHostGauge({ ...options, runner, name: what, open: async () => ({ measure }) }),
        title,
      );
      expect(failure).toBeDefined();
    });
});
