import { withoutSecretWords } from '../../domain/secrets/without-secrets.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import {
  assertMessage,
  callIdOf,
  type RevisionTrigger,
  revisionMessage,
} from '../../domain/sandbox/revision-message.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { liveTreeChanged } from '../session/live-tree.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { assertUsable, type OpenSandboxes } from '../session/open-sandboxes.ts';
import type { KeepPrinted, Printed } from '../record/keep-printed.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import { SessionSeats } from '../session/session-seats.ts';

/** A call that may change files of a workspace. */
export interface WorkspaceChange<Outcome> {
  readonly sandbox: string;
  /** Its name in the audit log: `sandbox-run`. */
  readonly operation: string;
  /** The tool, its subject and the caller's words: they become the revision's message. */
  readonly trigger: Pick<RevisionTrigger, 'tool' | 'subject' | 'detail' | 'message'>;
  /** For the audit log: no contents, no secrets. */
  readonly input: Readonly<Record<string, unknown>>;
  /** How long to wait for who is at work in the sandbox. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
  /** Checks that need the record and come before anything is done. */
  check?(record: SandboxRecord): void;
  /** Holds the sandbox's lease. What it changes is recorded when it returns, and not when it throws. */
  act(opened: OpenedSandbox, record: SandboxRecord): Promise<Outcome>;
  /** A command that it starts goes on when it has returned. */
  readonly worksOn?: boolean;
  /** Facts of the outcome for the revision's message. */
  facts?(outcome: Outcome): Pick<RevisionTrigger, 'exitCode' | 'durationMs'>;
  /** Facts of the outcome for the audit log. */
  summary?(outcome: Outcome): Readonly<Record<string, unknown>>;
  /** The output, to be kept for whoever reviews the call. */
  printed?(outcome: Outcome): Printed;
  /** Called when what `act` changed could not be recorded, before the call fails. The next one records it. */
  unrecorded?(outcome: Outcome): void;
  /** Called when all is recorded; throws when the call is to fail all the same. */
  settled?(outcome: Outcome): void;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly recordRevision: RecordRevision;
  readonly keepPrinted: KeepPrinted;
  readonly actor: string;
}

/** The one way in which calls change a workspace: one at a time, audited, recorded as one revision or none. */
export class ChangeWorkspace {
  readonly #needs: Needs;
  readonly #seats: SessionSeats;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#seats = new SessionSeats(needs.state);
  }

  /** @throws LitterboxError `SANDBOX_*`, `BUSY`, `MESSAGE_*`, and what `act` throws. */
  async change<Outcome>(
    change: WorkspaceChange<Outcome>,
    options?: ProgressOptions,
  ): Promise<{ readonly outcome: Outcome; readonly recorded: RevisionResult }> {
    const { trigger } = change;
    const callId = callIdOf(options?.callId);
    const found = await this.#needs.findSandbox.find(change.sandbox, options);
    change.check?.(found);
    assertMessage(found, trigger.message);
    // A call in a paused sandbox stands still until it is resumed: waiting for it would end in blaming it.
    if (found.state === 'paused') assertUsable(found);
    if (options?.seatOf !== undefined) await this.#seats.take(found, options.seatOf, options);
    // The state has it before the secrets are known that the command may name.
    const purpose = found.policy.exposed ? trigger.tool : `${trigger.tool}: ${trigger.subject.slice(0, 60)}`;
    const wait = change.waitMs === undefined ? {} : { patienceMs: change.waitMs };
    await using _lease = await leaseSandbox(this.#needs.state, found, purpose, { ...options, ...wait });
    const current = await currentRecord(this.#needs.state, found, options);
    const opened = await this.#needs.openSandboxes.get(current, options);
    await this.#needs.openSandboxes.reconnect(current, options);
    const words = redactedTrigger(trigger, opened);
    return await audited(
      this.#needs.audit,
      {
        operation: change.operation,
        actor: this.#needs.actor,
        repositoryId: current.repositoryId,
        sandbox: current.id,
        input: {
          ...redactedInput(change.input, opened),
          ...(callId !== undefined && { callId }),
          ...(words.message !== undefined && { message: withoutSecretWords(words.message.slice(0, 200)) }),
        },
      },
      async (note) => {
        const record = await this.#recordLeftOver(current, opened);
        const outcome = await change.act(opened, record);
        const message = revisionMessage({ ...words, sandbox: record.slug, callId, ...change.facts?.(outcome) });
        const recording = this.#needs.recordRevision.record(record, opened, message).catch((error: unknown) => {
          change.unrecorded?.(outcome);
          throw error;
        });
        if (change.printed) note(this.#needs.keepPrinted.keep(record, change.printed(outcome))); // while it is recorded
        const { result, drift } = await recording;
        failpoint('change.after-record');
        if (change.worksOn) opened.worksOn = true;
        if (drift) throw liveTreeChanged(record, drift, ' The call ended, and what it changed is recorded.');
        change.settled?.(outcome);
        return { outcome, recorded: result };
      },
      ({ outcome, recorded: { revision } }) => ({
        ...change.summary?.(outcome),
        ...(revision && { revision: revision.commit }),
      }),
    );
  }

  /** Changes that a killed process left unrecorded become a revision of their own, not part of this one. */
  async #recordLeftOver(record: SandboxRecord, opened: OpenedSandbox): Promise<SandboxRecord> {
    if (!opened.mayHoldUnrecorded && !opened.worksOn) return record;
    opened.channel.warm().catch(() => {}); // meanwhile; who uses it is told what is wrong
    const updated = await this.#needs.recordRevision.recordUnrecorded(record, opened);
    opened.mayHoldUnrecorded = false;
    return updated;
  }
}

/** An agent that knows a secret may write it into a command. */
function redactedTrigger(
  { tool, subject, detail, message }: WorkspaceChange<unknown>['trigger'],
  { secrets }: OpenedSandbox,
): WorkspaceChange<unknown>['trigger'] {
  const redacted = (text: string | undefined) => (text === undefined ? undefined : secrets.redacted(text));
  return { tool, subject: secrets.redacted(subject), detail: redacted(detail), message: redacted(message) };
}

function redactedInput(
  input: Readonly<Record<string, unknown>>,
  { secrets }: OpenedSandbox,
): Readonly<Record<string, unknown>> {
  const redacted = (value: unknown) => (typeof value === 'string' ? secrets.redacted(value) : value);
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, redacted(value)]));
}
