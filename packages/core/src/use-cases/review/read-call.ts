import type { KeptOutput } from '../../channel/bounded-output.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { ObjectId } from '../../domain/sandbox/ids.ts';
import { sha256 } from '../../domain/text/sha256.ts';
import { shown } from '../../domain/text/shown.ts';
import type { AuditEntry, AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { printedFacts, type PrintedStream } from '../record/printed-facts.ts';
import { CALLS, MAX_ENTRIES, type QuietCall, subjectOf } from './read-history.ts';

/** A stream of a call: what is kept of it, hostile, or how much was there where that is gone. */
export type PastOutput =
  | ({ readonly type: 'kept' } & KeptOutput)
  | { readonly type: 'gone'; readonly bytes: number; readonly droppedBytes: number };

/** A call of which the log tells, with what it printed. */
export interface PastCall extends QuietCall {
  readonly durationMs?: number;
  /** The revision that it left. */
  readonly revision?: ObjectId;
  /** A stream that stayed empty is absent. Undefined as a whole where nothing was kept: of a terminal, an older call, one that was killed. */
  readonly printed?: { readonly stdout?: PastOutput; readonly stderr?: PastOutput };
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly audit: AuditLog;
}

/** Reads one call of a sandbox: how it went, and what it printed. */
export class ReadCall {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * @param call its number, or the agent's own id of it; of several with one id the last
   * @throws LitterboxError `SANDBOX_NOT_FOUND`; `NOT_FOUND` when the sandbox had no such call
   */
  async read(name: string, call: number | string, options?: CallOptions): Promise<PastCall> {
    const record = await this.#needs.findSandbox.find(name, options);
    const filter = { repositoryId: record.repositoryId, sandbox: record.id, limit: MAX_ENTRIES };
    const entries = await this.#needs.audit.entries(filter, options);
    const isMeant = ({ sequence, input }: AuditEntry) => sequence === Number(call) || input['callId'] === call;
    const found = entries.find((entry) => CALLS.has(entry.operation) && isMeant(entry));
    if (!found) throw unknownCall(record, call);
    const { input, result, durationMs } = found;
    const { exitCode, revision } = result;
    const { callId } = input;
    const printed = await this.#printed(record, found, options);
    return {
      call: found.sequence,
      atMs: found.atMs,
      subject: subjectOf(found),
      actor: found.actor,
      outcome: found.outcome,
      ...(durationMs !== undefined && { durationMs }),
      ...(typeof callId === 'string' && { callId }),
      ...(typeof exitCode === 'number' && { exitCode }),
      ...(typeof revision === 'string' && { revision: revision as ObjectId }),
      ...(printed && { printed }),
    };
  }

  async #printed(record: SandboxRecord, { result }: AuditEntry, options?: CallOptions): Promise<PastCall['printed']> {
    const facts = printedFacts(result);
    if (!facts) return undefined;
    const { stdout, stderr } = facts;
    const out = stdout && (await this.#output(record, stdout, options));
    const err = stderr && (await this.#output(record, stderr, options));
    return { ...(out && { stdout: out }), ...(err && { stderr: err }) };
  }

  async #output(record: SandboxRecord, stream: PrintedStream, options?: CallOptions): Promise<PastOutput> {
    const { digest, cutAt, droppedBytes, bytes: length } = stream;
    const repository = await this.#needs.openRepository.open(options);
    const bytes = await repository.printed(record.id, digest, options);
    // A power cut may have left a part of it.
    const isWhole = bytes !== undefined && (await sha256(new Uint8Array(bytes))) === digest;
    return isWhole ? { type: 'kept', bytes, cutAt, droppedBytes } : { type: 'gone', bytes: length, droppedBytes };
  }
}

function unknownCall({ slug }: SandboxRecord, call: number | string): LitterboxError {
  return new LitterboxError('NOT_FOUND', `${slug} had no call ${shown(String(call))}.`, {
    operation: 'sandbox.call',
    hint: advice`List the calls: ${step('sandbox-log', { sandbox: slug })}.`,
  });
}
