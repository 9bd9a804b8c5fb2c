import { expect, test } from '@jest/globals';
import { LitterboxError, type SandboxProvider } from '@litterbox/core/provider';
import { useCaseFixture } from '../../src/index.ts';
import { changed } from '../made.ts';

const refused = async (): Promise<never> => {
  throw new LitterboxError('UNAVAILABLE', 'It is on another engine.', {
    operation: 'provider.open',
    provider: 'memory',
  });
};

/** A provider that reaches another engine than the one that its sandboxes are on. */
const elsewhere = (real: SandboxProvider): Partial<SandboxProvider> => ({
  open: refused,
  remove: refused,
  async *list(options) {
    for await (const status of real.list(options)) yield { id: status.id, state: 'unreachable' };
  },
});

test('a sandbox on another engine than the one that is reached is unreachable, and nothing builds it anew or removes it', async () => {
  const fixture = useCaseFixture();
  const { id } = await changed(fixture);
  await using other = fixture.restarted({ provider: elsewhere });
  expect(await other.listSandboxes.list('repository')).toMatchObject([{ name: 'a', state: 'unreachable' }]);
  const refusal = { code: 'UNAVAILABLE' };
  await expect(other.recoverSandbox.recover('a', { force: true })).rejects.toMatchObject(refusal);
  await expect(other.deleteSandbox.delete('a', { force: true })).rejects.toMatchObject(refusal);
  expect([...fixture.shelves.sandboxes.sandboxes.keys()]).toEqual([id]);
});

test('its record, when that was lost, is made anew when its engine is back', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  fixture.shelves.records.records = [];
  const other = fixture.restarted({ provider: elsewhere });
  expect(await other.restoreRecords.restore(await other.openRepository.open())).toEqual([
    'The record of a was lost and could not be rebuilt: memory cannot reach its engine now.',
  ]);
  await using back = other.restarted({ provider: {} });
  expect(await back.restoreRecords.restore(await back.openRepository.open())).toEqual([
    'The record of a was lost and has been rebuilt; the sandbox is ready.',
  ]);
});
