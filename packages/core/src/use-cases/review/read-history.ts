import type { ObjectId } from '../../domain/sandbox/ids.ts';
import { interruptedCallOf } from '../../domain/sandbox/revision-message.ts';
import type { AuditEntry, AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { LogEntry } from '../../ports/source-control/sandbox-histories.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';

/** A call that changed nothing, so that no revision tells of it. */
export interface QuietCall {
  /** Its number, as the audit log has it. */
  readonly call: number;
  readonly atMs: number;
  /** The command or the written path, as far as the audit log has it. */
  readonly subject: string;
  /** The same, of a call that ran a command. */
  readonly command?: string;
  readonly actor: string;
  /** The agent's own id of it. */
  readonly callId?: string;
  readonly outcome: AuditEntry['outcome'];
  readonly exitCode?: number;
}

/** A revision, and the call that made it as far as it is known. */
export type CalledRevision = LogEntry & Partial<Pick<QuietCall, 'call' | 'callId' | 'command' | 'actor' | 'exitCode'>>;

/** One line of a history: a revision, or a call that changed nothing. */
export type HistoryEntry = ({ readonly type: 'revision' } & CalledRevision) | ({ readonly type: 'call' } & QuietCall);

/** Calls that may change files. */
export const CALLS: ReadonlySet<string> = new Set([
  'sandbox-run',
  'sandbox-shell',
  'sandbox-write',
  'sandbox-edit',
  'sandbox-patch',
]);

/** Entries of the audit log among calls that are none of them, such as what a person looked at. */
const OTHERS = 100;
/** Entries of the audit log that are looked through: more than a sandbox ever had. */
export const MAX_ENTRIES = 1_000_000;

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly audit: AuditLog;
}

/** The history of a sandbox, newest first: its revisions and, between them, the calls that changed nothing. */
export class ReadHistory {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async read(
    name: string,
    { limit, quietCalls }: { readonly limit?: number | undefined; readonly quietCalls: boolean },
    options?: CallOptions,
  ): Promise<readonly HistoryEntry[]> {
    const { id, repositoryId } = await this.#needs.findSandbox.find(name, options);
    const repository = await this.#needs.openRepository.open(options);
    const most = limit === undefined ? {} : { limit };
    const revisions: LogEntry[] = [];
    for await (const entry of repository.log(id, { ...options, ...most })) revisions.push(entry);
    const entries = revisions.map((entry) => ({ type: 'revision' as const, ...entry }));
    if (!quietCalls) return entries;
    const ofThem = { limit: limit === undefined ? MAX_ENTRIES : limit + OTHERS };
    const audited = await this.#needs.audit.entries({ repositoryId, sandbox: id, ...ofThem }, options);
    return merged(entries, audited).slice(0, limit);
  }
}

/**
 * Order comes from the two logs: a call that names a revision stands where that revision does. One that no call names, such as what was
 * recovered, stands where its time says.
 */
function merged(
  revisions: readonly (HistoryEntry & { readonly commit: ObjectId })[],
  audited: readonly AuditEntry[],
): readonly HistoryEntry[] {
  const places = new Map<unknown, number>();
  for (const [place, one] of revisions.entries()) {
    places.set(one.commit, place);
    const interrupted = one.type === 'revision' ? interruptedCallOf(one) : undefined;
    if (interrupted !== undefined) places.set(interrupted, place);
  }
  const named = new Set(audited.map(({ result }) => result['revision']));
  const all: HistoryEntry[] = [];
  let next = 0;
  const push = (end: number) => {
    all.push(...revisions.slice(next, end));
    next = Math.max(next, end);
  };
  for (const { sequence: call, operation, result, input, atMs, actor, outcome } of audited) {
    const place = places.get(result['revision']) ?? places.get(call);
    const { exitCode } = result;
    const { callId, command } = input;
    const ended = {
      call,
      actor,
      ...(typeof command === 'string' && { command }),
      ...(typeof callId === 'string' && { callId }),
      ...(typeof exitCode === 'number' && { exitCode }),
    };
    if (place !== undefined) {
      push(place);
      const made = revisions[place];
      if (made && place === next) all.push({ ...made, ...ended });
      next = Math.max(next, place + 1);
    } else if (CALLS.has(operation) && result['revision'] === undefined) {
      for (let one = revisions[next]; one && !named.has(one.commit) && one.atMs >= atMs; one = revisions[next])
        push(next + 1);
      all.push({ type: 'call', ...ended, atMs, subject: subjectOf({ operation, input }), outcome });
    }
  }
  push(revisions.length);
  return all;
}

/** The command or the path, as far as the audit log has it. */
export function subjectOf({ operation, input }: Pick<AuditEntry, 'operation' | 'input'>): string {
  return [input['command'], input['path']].find((value) => typeof value === 'string') ?? operation;
}
