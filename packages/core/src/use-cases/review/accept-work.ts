import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { ObjectId } from '../../domain/sandbox/ids.ts';
import { visibleName } from '../../domain/text/visible.ts';
import type { Approver } from '../../ports/person/approver.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { FileChange } from '../../ports/source-control/file-change.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { acceptRisky, type RiskyWork } from './accept-risky.ts';
import { askedAgain } from '../common/asked-again.ts';
import { currentRecord } from '../common/change-record.ts';
import type { LookAtSandbox } from './look-at-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';

/** The work that a person is asked to take: one state of a sandbox. */
export interface OfferedWork extends Omit<RiskyWork, 'question'> {
  readonly record: SandboxRecord;
  /** The question itself: `Merge fix-login`. */
  readonly question: string;
}

/** A person's answers from before they were asked. */
export interface GivenConsent {
  /** A revision by number or commit: yes to that state and no other. */
  readonly tip?: string | undefined;
  /** Yes to the files that run code, of the state that was shown or that `tip` names. */
  readonly acceptRisky?: boolean | undefined;
  /** Shows a person what they have not seen, before the approver is asked. Without it, changes that nobody was shown at all are taken unasked. */
  readonly onUnseen?: ShowUnseen | undefined;
}

/**
 * Shows a person a patch, of hostile bytes, and resolves when they have seen it.
 *
 * @param part `all` where nobody was shown anything yet, `since` for the difference from what was shown last
 */
export type ShowUnseen = (patch: AsyncIterable<Uint8Array>, part: 'all' | 'since') => Promise<void>;

/** Changed files that a question or a refusal names. */
const MAX_NAMED = 20;
/** Changed files that the facts of a refusal name. */
const MAX_FACTS = 100;

interface Needs {
  readonly state: StateStore;
  readonly openRepository: OpenRepository;
  readonly approver: Approver;
  readonly lookAtSandbox: LookAtSandbox;
}

/**
 * A decision stands on what was shown: whoever says yes gets the state that they saw. Another one is named by the files that changed since,
 * and asked about.
 */
export class AcceptWork {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `CHANGED_SINCE_SHOWN`, `RISKY_CHANGES`, `PERMISSION_DENIED`; `REV_NOT_FOUND` for a tip that is none. */
  async accept(work: OfferedWork, consent: GivenConsent, options?: CallOptions): Promise<void> {
    const basis = await this.#basis(work, consent, options);
    const since = basis === undefined ? [] : await this.#changedSince(work, basis, options);
    const isUnseen = basis === undefined || since.length > 0;
    const isSeen = isUnseen && (await this.#show(work, consent, basis, options));
    if (basis !== undefined && since.length > 0) await this.#acceptChanged(work, basis, since, options);
    const isAccepted = consent.acceptRisky === true && basis !== undefined && since.length === 0;
    const question = `${work.question} anyway?`;
    await acceptRisky(this.#needs.approver, { ...work, question }, isAccepted, options);
    if (basis !== undefined || !isSeen || work.risky.length > 0) return;
    const plain = { question: `${work.question}?`, details: [] };
    if (await this.#needs.approver.approve(plain, options)) return;
    throw new LitterboxError('PERMISSION_DENIED', `Nobody agreed to ${work.verb} ${work.slug}.`, {
      operation: `sandbox.${work.verb}`,
    });
  }

  /**
   * The state that a person named, if they did: asked before anything is shown, so that a wrong name is all that they read.
   *
   * @throws LitterboxError `CHANGED_SINCE_SHOWN` when the work is of another state than the one that was named, `REV_NOT_FOUND`
   */
  async assertNamed(work: OfferedWork, name: string | undefined, options?: CallOptions): Promise<ObjectId | undefined> {
    if (name === undefined) return undefined;
    if (name === work.tip.commit) return work.tip.commit;
    const repository = await this.#needs.openRepository.open(options);
    const { commit } = await repository.resolve(work.record.id, name, options);
    if (commit === work.tip.commit) return commit;
    throw changedSince(work, commit, await this.#changedSince(work, commit, options), name);
  }

  /** The state that the person knows: the one that they name, or the one that they were shown last. */
  async #basis(work: OfferedWork, { tip }: GivenConsent, options?: CallOptions): Promise<ObjectId | undefined> {
    return (
      (await this.assertNamed(work, tip, options)) ??
      (await currentRecord(this.#needs.state, work.record, options)).shownTip
    );
  }

  async #changedSince(
    { record, tip, paths }: OfferedWork,
    basis: ObjectId,
    options?: CallOptions,
  ): Promise<readonly FileChange[]> {
    if (basis === tip.commit) return [];
    const repository = await this.#needs.openRepository.open(options);
    const scope = { revision: tip.commit, against: basis, ...(paths?.length && { paths }) };
    return await repository.changes(record.id, { ...options, ...scope });
  }

  /** @returns whether there was a person to show it to */
  async #show(
    { record, tip, paths }: OfferedWork,
    { onUnseen }: GivenConsent,
    basis: ObjectId | undefined,
    options?: CallOptions,
  ): Promise<boolean> {
    if (!onUnseen) return false;
    const repository = await this.#needs.openRepository.open(options);
    const some = paths?.length ? { paths } : {};
    const scope = basis === undefined ? { upTo: tip.commit } : { revision: tip.commit, against: basis, ...some };
    await onUnseen(repository.diff(record.id, { ...options, ...scope }), basis === undefined ? 'all' : 'since');
    if (!('paths' in scope)) await this.#needs.lookAtSandbox.markShown({ record, tip });
    return true;
  }

  async #acceptChanged(
    work: OfferedWork,
    basis: ObjectId,
    since: readonly FileChange[],
    options?: CallOptions,
  ): Promise<void> {
    const details = since.slice(0, MAX_NAMED).map(describeChange);
    if (since.length > MAX_NAMED) details.push(`… and ${since.length - MAX_NAMED} more`);
    const subject = since.length === 1 ? 'This file' : `These ${since.length} files`;
    const question = `${subject} ${since.length === 1 ? 'is not as it was' : 'are not as they were'} when you were shown ${work.slug}. ${work.question} anyway?`;
    if (await this.#needs.approver.approve({ question, details }, options)) return;
    throw changedSince(work, basis, since);
  }
}

/**
 * For a sandbox that went on after it was shown.
 *
 * @param since the files that differ; empty where only words do
 * @param asked the revision that the person named: an older one is taken after the sandbox went back to it
 */
export function changedSince(
  { record: { slug }, tip, verb, paths }: Pick<OfferedWork, 'record' | 'tip' | 'verb' | 'paths'>,
  shown: ObjectId | undefined,
  since: readonly FileChange[],
  asked?: string,
): LitterboxError {
  const named = since.slice(0, 5).map(({ path }) => visibleName(path));
  const which = named.length === 0 ? '' : `: ${named.join(', ')}${since.length > named.length ? ' …' : ''}`;
  const files = since.length === 1 ? 'One file' : `${since.length} files`;
  const are = since.length === 1 ? 'is not as it was' : 'are not as they were';
  // Its files are those of the last milestone, which no other look brings up to date.
  const between =
    verb === 'worktree'
      ? advice` If it has later work than its last milestone: ${step('sandbox-milestone', { sandbox: slug })}.`
      : '';
  const isOlder = asked !== undefined && asked !== shown && verb !== 'worktree';
  const older = isOlder
    ? advice` To take the older one, go back to it first, which undo takes back: ${step('sandbox-restore', { sandbox: slug, revision: asked })}.`
    : '';
  return new LitterboxError(
    'CHANGED_SINCE_SHOWN',
    since.length === 0
      ? `${slug} is at another revision than the one that was shown.`
      : `${files} of ${slug} ${are} when it was shown${which}.`,
    {
      operation: `sandbox.${verb}`,
      hint: advice`Look again: ${step('sandbox-diff', { sandbox: slug })}.${between} Then: ${askedAgain(verb, slug, paths)}. Without a look, to take exactly what is there now: ${askedAgain(verb, slug, paths, { tip: tip.commit.slice(0, 10) })}.${older}`,
      facts: {
        tip: tip.commit,
        ...(shown !== undefined && { shown }),
        changed: since.slice(0, MAX_FACTS).map(({ path, status }) => ({ path, status })),
        changedFiles: since.length,
      },
    },
  );
}

function describeChange({ path, status, addedLines, removedLines }: FileChange): string {
  const counts = addedLines === undefined ? '' : ` +${addedLines} -${removedLines ?? 0}`;
  return `${visibleName(path)}: ${status}${counts}`;
}
