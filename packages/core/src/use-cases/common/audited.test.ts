import { expect, test } from '@jest/globals';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import { audited, isAudited } from './audited.ts';

const START = { operation: 'test', actor: 'test', input: {} };

/** Remembers what was written. */
function log(finish: () => Promise<void> = async () => {}): AuditLog & { readonly lines: string[] } {
  const lines: string[] = [];
  const refuse = () => Promise.reject(new Error('not asked for'));
  return {
    lines,
    async start({ operation }) {
      lines.push(operation);
      return async (outcome, result) => {
        await finish();
        lines.push(`${outcome} ${JSON.stringify(result)}`);
      };
    },
    entries: refuse,
    verify: refuse,
  };
}

test('a call stands between two entries, with what of its result belongs there', async () => {
  const audit = log();
  expect(
    await audited(
      audit,
      START,
      async () => 5,
      (count) => ({ count }),
    ),
  ).toBe(5);
  expect(audit.lines).toEqual(['test', 'ok {"count":5}']);
});

test('a failure is written down by its code, and known to be', async () => {
  const audit = log();
  const refused = new LitterboxError('CONFLICT', 'no', { operation: 'test' });
  await expect(audited(audit, START, () => Promise.reject(refused))).rejects.toBe(refused);
  await expect(audited(audit, START, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
  expect(audit.lines[1]).toBe('error {"code":"CONFLICT"}');
  expect(audit.lines[3]).toBe('error {"code":"ABORTED_OR_INTERNAL"}');
  expect(isAudited(refused)).toBe(true);
  expect(isAudited(new Error('x'))).toBe(false);
  expect(isAudited('x')).toBe(false);
});

test('one that ran and could not be closed in the log says so', async () => {
  const full = new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' });
  await expect(
    audited(
      log(() => Promise.reject(full)),
      START,
      async () => 5,
    ),
  ).rejects.toBe(full);
});

test('one that cannot be begun in the log does not run', async () => {
  const full = new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' });
  let isRun = false;
  const body = async () => {
    isRun = true;
  };
  await expect(audited({ ...log(), start: () => Promise.reject(full) }, START, body)).rejects.toBe(full);
  expect(isRun).toBe(false);
});
