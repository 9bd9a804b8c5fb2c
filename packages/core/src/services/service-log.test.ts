import { expect, test } from '@jest/globals';
import { ServiceLog } from './service-log.ts';

test('AX222: a service that prints byte by byte takes time by its bytes', () => {
  const log = new ServiceLog(2 ** 18);
  const before = process.cpuUsage();
  for (let count = 0; count < 600_000; count++) log.push(Uint8Array.of(count & 0xff));
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(12); // a slow machine takes 4
  const { bytes, next } = log.since(0);
  expect([bytes.length, next, bytes.at(-1)]).toEqual([2 ** 18, 600_000, 599_999 & 0xff]);
});
