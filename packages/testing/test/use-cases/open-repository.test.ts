import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';

const failed = new Error('no');

test('the repository is opened on first use, and once', async () => {
  let opened = 0;
  await using fixture = useCaseFixture({
    sourceControl: (real) => ({
      open(...args) {
        opened += 1;
        return real.open(...args);
      },
    }),
  });
  expect(opened).toBe(0);
  const both = await Promise.all([fixture.openRepository.open(), fixture.openRepository.open()]);
  expect(both[0]).toBe(both[1]);
  expect(opened).toBe(1);
});

test('what was wrong may be mended before the next call', async () => {
  let isBroken = true;
  await using fixture = useCaseFixture({
    sourceControl: (real) => ({ open: (...args) => (isBroken ? Promise.reject(failed) : real.open(...args)) }),
  });
  await expect(fixture.openRepository.open()).rejects.toBe(failed);
  isBroken = false;
  expect((await fixture.openRepository.open()).root).toBe(fixture.person.root);
});

test('an aborted call rejects with its reason, and the next one opens', async () => {
  await using fixture = useCaseFixture();
  expect(() => fixture.openRepository.open({ signal: AbortSignal.abort(failed) })).toThrow(failed);
  expect((await fixture.openRepository.open()).root).toBe(fixture.person.root);
});
