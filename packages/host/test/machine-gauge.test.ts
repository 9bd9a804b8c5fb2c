import { describe, expect, it, test } from '@jest/globals';
import { describeHostGauge } from '@litterbox/conformance';
import { type Host, type Hosts, LitterboxError } from '@litterbox/core/provider';
import { localHost, machineGauge } from '@litterbox/host';

const gaugeOf = (host: Host) =>
  machineGauge({ open: async () => ({ host, directory: '/' }) } satisfies Pick<Hosts, 'open'>);

describeHostGauge({
  name: 'machines that are asked by a program',
  runner: { describe, it },
  there: 'local',
  silent: 'silent',
  open: async () => {
    const host = localHost();
    return machineGauge({
      open(name) {
        if (name === 'local') return Promise.resolve({ host, directory: '/' });
        if (name === 'silent') return new Promise<never>(() => {});
        return Promise.reject(new LitterboxError('NOT_FOUND', `There is no host ${name}.`, { operation: 'host.open' }));
      },
    });
  },
});

test('this machine tells what it has', async () => {
  await using host = localHost();
  const { memoryBytes, availableBytes, processors, load, roundTripMs } = await gaugeOf(host).measure('local');
  expect(memoryBytes).toBeGreaterThan(2 ** 26);
  expect(availableBytes).toBeGreaterThan(0);
  expect(availableBytes).toBeLessThanOrEqual(memoryBytes);
  expect(processors).toBeGreaterThan(0);
  expect(load).toBeGreaterThanOrEqual(0);
  expect(roundTripMs).toBe(0);
  expect((await gaugeOf(host).measure('elsewhere')).roundTripMs).toBeGreaterThan(0);
});

test('one without Linux is not asked, and an answer that is none is told', async () => {
  await using host = localHost();
  const facts = async () => ({ ...(await host.facts()), platform: 'darwin' });
  await expect(gaugeOf({ ...host, facts }).measure('mac')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  const spawn: Host['spawn'] = (spec) => host.spawn({ ...spec, argv: ['yes'] });
  await expect(gaugeOf({ ...host, spawn }).measure('liar')).rejects.toMatchObject({
    code: 'PROVIDER_PROTOCOL_ERROR',
    message: expect.stringContaining('memory and load of liar'),
  });
});
