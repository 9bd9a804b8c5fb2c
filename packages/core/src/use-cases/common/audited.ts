import { LitterboxError } from '../../domain/errors/errors.ts';
import type { AuditLog, AuditStart } from '../../ports/state/audit-log.ts';

/** Failures that stand in the log already. */
const known = new WeakSet<object>();

/** Whether {@link audited} has written this failure down. */
export const isAudited = (error: unknown): boolean => typeof error === 'object' && error !== null && known.has(error);

/** Adds facts to the end of an entry, whatever becomes of the call. They are waited for then, and may not fail. */
export type NoteFacts = (facts: Promise<Readonly<Record<string, unknown>>>) => void;

/**
 * Runs a call between its two audit entries. A call that cannot be audited does not run; one that ran and could not be
 * closed in the log says so, whatever else it did.
 *
 * @param summary what of the result goes into the log: JSON values, no contents
 */
export async function audited<Result>(
  audit: AuditLog,
  start: AuditStart,
  body: (note: NoteFacts) => Promise<Result>,
  summary: (result: Result) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<Result> {
  const finish = await audit.start(start);
  const notes: Parameters<NoteFacts>[0][] = [];
  const noted = async () => Object.assign({}, ...(await Promise.all(notes)));
  let result: Result;
  try {
    result = await body((facts) => void notes.push(facts));
  } catch (error) {
    if (typeof error === 'object' && error !== null) known.add(error);
    await finish('error', {
      ...(await noted()),
      code: error instanceof LitterboxError ? error.code : 'ABORTED_OR_INTERNAL',
    });
    throw error;
  }
  await finish('ok', { ...(await noted()), ...summary(result) });
  return result;
}
