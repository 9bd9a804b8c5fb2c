import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** Calls after the one that was killed that only looked: no more of them than these. */
const MAX_ENTRIES = 20;
const MAX_CHARACTERS = 58;

/** A call that left changes behind because its process died. */
interface InterruptedCall {
  /** Its number in the audit log. */
  readonly interrupted: number;
  /** Its message, else what it ran or wrote. */
  readonly message: string;
}

/** The call that left what was found. */
export async function interruptedCall(
  audit: Pick<AuditLog, 'entries'>,
  { id, repositoryId }: Pick<SandboxRecord, 'id' | 'repositoryId'>,
): Promise<InterruptedCall | undefined> {
  const entries = await audit.entries({ repositoryId, sandbox: id, limit: MAX_ENTRIES }).catch(() => []);
  for (const { sequence, operation, outcome, input, result } of entries) {
    const { message, command, path, tool = operation.replace('sandbox-', '') } = input;
    const what = command ?? path;
    if (outcome === 'running' || (outcome !== 'unknown' && !CHANGES.has(operation))) continue;
    if (outcome !== 'unknown' || result['revision'] !== undefined || typeof what !== 'string') return undefined;
    const [first = ''] = (typeof message === 'string' ? message : `${String(tool)}: ${what}`).trim().split('\n');
    return { interrupted: sequence, message: `${first.slice(0, MAX_CHARACTERS).toWellFormed()} (interrupted)` };
  }
  return undefined;
}

/** Calls that record what was left before they begin. */
const CHANGES = new Set(['sandbox-run', 'sandbox-shell', 'sandbox-write', 'sandbox-edit', 'sandbox-patch']);
