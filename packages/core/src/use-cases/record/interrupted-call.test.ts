import { expect, test } from '@jest/globals';
import { RepositoryId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { AuditEntry } from '../../ports/state/audit-log.ts';
import { interruptedCall } from './interrupted-call.ts';

const RECORD = { id: SandboxId.make(), repositoryId: RepositoryId.make() };
const entry = (change: Partial<AuditEntry>): AuditEntry => ({
  sequence: 1,
  atMs: 0,
  actor: 'cli',
  operation: 'sandbox-run',
  input: { command: 'npm test', tool: 'run' },
  outcome: 'unknown',
  result: {},
  hash: '',
  ...change,
});
const nameOf = async (...entries: readonly AuditEntry[]) =>
  (await interruptedCall({ entries: async () => entries }, RECORD))?.message;

test('a call whose process died is called by its message, else by what it ran', async () => {
  expect(await nameOf(entry({}))).toBe('run: npm test (interrupted)');
  expect(await nameOf(entry({ input: { command: 'x', message: 'Long one\n\nmore' } }))).toBe('Long one (interrupted)');
  expect(await nameOf(entry({ operation: 'sandbox-write', input: { path: 'a.txt' } }))).toBe(
    'write: a.txt (interrupted)',
  );
  expect((await nameOf(entry({ input: { command: 'x'.repeat(200) } })))?.length).toBeLessThanOrEqual(72);
});

test('calls that go on and calls that look stand in nobody’s way', async () => {
  const now = entry({ outcome: 'running', input: { command: 'the next' } });
  const look = entry({ operation: 'sandbox-read', outcome: 'ok' });
  expect(await nameOf(now, look, entry({}))).toBe('run: npm test (interrupted)');
});

test('nothing is known where the last call ended, or what it did was recorded', async () => {
  expect(await nameOf()).toBeUndefined();
  expect(await nameOf(entry({ outcome: 'ok' }), entry({}))).toBeUndefined();
  expect(await nameOf(entry({ result: { revision: 'x' } }))).toBeUndefined();
  const failing = interruptedCall({ entries: () => Promise.reject(new Error('no')) }, RECORD);
  expect(await failing).toBeUndefined();
});
