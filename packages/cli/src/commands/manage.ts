import {
  cloneRepository,
  cutMilestone,
  deleteSandbox,
  exportWorktree,
  isLitterboxError,
  type Parsed,
  pauseSandbox,
  recoverSandbox,
  type RestoreResult,
  restoreRevision,
  resumeSandbox,
  type RiskyChange,
  type RunStateResult,
  undoRevision,
  hintForPeople,
} from '@litterbox/core';
import { askOrCancel } from '../terminal/ask.ts';
import type { Context } from '../context.ts';
import type { Talk } from '../terminal/talk.ts';
import { unrecordedNames } from '../words/unrecorded-names.ts';
import { lastAgentCall } from '../reviewing/last-agent-call.ts';
import { showRisky } from '../reviewing/review.ts';

async function milestone(context: Context, input: Parsed<typeof cutMilestone>): Promise<void> {
  const { talk, signal } = context;
  const made = await (await context.settled()).perform(cutMilestone, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(cutMilestone.document?.(made));
  if (!made) return talk.notice('Nothing was recorded since the last milestone.');
  const branch = made.branch.replace(/^refs\/heads\//, '');
  talk.result(
    `${branch} is at ${made.commit.slice(0, 10)} (${made.revisions === 1 ? 'one revision' : `${made.revisions} revisions`})`,
  );
  if (made.largeFiles)
    talk.notice(
      `It has pointers of Git LFS: before git switch ${branch}, let litterbox worktree ${input.sandbox} bring their contents.`,
    );
}

async function remove(
  context: Context,
  {
    sandbox: names,
    force = false,
    forget = false,
    waitMs,
  }: Omit<Parsed<typeof deleteSandbox>, 'sandbox'> & { readonly sandbox: readonly string[] },
): Promise<void> {
  const { talk, signal } = context;
  // Of a repository that is gone there is nothing to settle, and its sandboxes can be deleted all the same.
  const litterbox = await context.settled().catch((error: unknown) => {
    if (isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'NOT_A_REPO')) return context.litterbox();
    throw error;
  });
  const deleted: string[] = [];
  const failures: unknown[] = [];
  for (const name of names) {
    try {
      const agent = talk.json ? undefined : await lastAgentCall(litterbox, name, signal);
      await litterbox
        .perform(deleteSandbox, { sandbox: name, force, forget, waitMs }, { signal, onProgress: talk.progress })
        .catch(async (error: unknown) => {
          if (!isLitterboxError(error, 'UNMERGED_WORK') || talk.json) throw error;
          if (!(await askOrCancel.approve({ question: `${error.message} Delete it anyway?`, details: [] })))
            throw error;
          await litterbox.perform(
            deleteSandbox,
            { sandbox: name, force: true, forget, waitMs },
            { signal, onProgress: talk.progress },
          );
        });
      deleted.push(name);
      talk.notice(forget ? `Forgot ${name}. Its files on the machine or engine were not removed.` : `Deleted ${name}.`);
      if (agent !== undefined) talk.notice(agent);
    } catch (error) {
      if (names.length > 1 && isLitterboxError(error)) talk.error(error.message, hintForPeople(error.details));
      failures.push(error);
    }
  }
  if (talk.json && failures.length === 0) talk.document({ deleted });
  if (failures.length > 0) throw failures[0];
}

async function pause(context: Context, input: Parsed<typeof pauseSandbox>): Promise<void> {
  tell(context, await (await context.settled()).perform(pauseSandbox, input, { signal: context.signal }));
}

async function resume(context: Context, input: Parsed<typeof resumeSandbox>): Promise<void> {
  tell(context, await (await context.settled()).perform(resumeSandbox, input, { signal: context.signal }));
}

function tell({ talk }: Context, results: readonly RunStateResult[]): void {
  if (talk.json) return talk.document(pauseSandbox.document?.(results));
  if (results.length === 0) talk.notice('No sandboxes.');
  for (const { record, isChanged } of results)
    talk.notice(`${record.slug} is ${isChanged ? '' : 'already '}${record.state}.`);
}

async function restore(context: Context, input: Parsed<typeof restoreRevision>): Promise<void> {
  const { talk, signal } = context;
  const restored = await (await context.settled()).perform(restoreRevision, input, {
    signal,
    onProgress: talk.progress,
  });
  if (talk.json) return talk.document(restoreRevision.document?.(restored));
  talk.notice(
    restored.revision
      ? `${input.sandbox} has the files of revision ${input.revision} again, as revision ${restored.revision.number}.`
      : `${input.sandbox} has the files of that revision already.`,
  );
  warnOfUnrecorded(talk, restored);
}

/** Files that could not be read are no part of any revision, and nothing puts them back. */
function warnOfUnrecorded(talk: Talk, { unrecorded }: RestoreResult): void {
  if (!unrecorded) return;
  talk.warning(`but for what could not be recorded, and is as it was: ${unrecordedNames(unrecorded)}`);
}

async function undo(context: Context, input: Parsed<typeof undoRevision>): Promise<void> {
  const { talk, signal } = context;
  const undone = await (await context.settled()).perform(undoRevision, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(undoRevision.document?.(undone));
  const { revision, target } = undone;
  const files = target === 0 ? 'the files that it began with' : `the files of revision ${target}`;
  talk.notice(`${input.sandbox} has ${files} again${revision ? `, as revision ${revision.number}` : ''}.`);
  warnOfUnrecorded(talk, undone);
}

async function recover(context: Context, input: Parsed<typeof recoverSandbox>): Promise<void> {
  const { talk, signal } = context;
  const record = await (await context.settled()).perform(recoverSandbox, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(recoverSandbox.document?.(record));
  talk.notice(`Rebuilt ${record.slug} from its last revision.`);
}

async function worktree(context: Context, input: Parsed<typeof exportWorktree>): Promise<void> {
  const { talk, signal } = context;
  const onRisky = (risky: readonly RiskyChange[]) => void (!talk.json && showRisky(talk, risky, input.sandbox));
  const made = await (await context.settled()).perform(exportWorktree, input, { signal, onRisky });
  if (talk.json) return talk.document(exportWorktree.document?.(made));
  const { directory, revisions, unmilestoned } = made;
  const offer = `litterbox milestone ${input.sandbox} 'MESSAGE', then litterbox worktree ${input.sandbox}`;
  if (unmilestoned > 0)
    talk.warning(
      revisions === unmilestoned
        ? `No milestone yet, so these are the files that ${input.sandbox} began with. To see its work: ${offer}.`
        : `${unmilestoned === 1 ? 'One revision' : `${unmilestoned} revisions`} came after the last milestone and cannot be seen in these files. To see all: ${offer}.`,
    );
  talk.result(directory);
}

async function clone(context: Context, input: Parsed<typeof cloneRepository>): Promise<void> {
  const { talk, signal } = context;
  const cloned = await (await context.settled()).perform(cloneRepository, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(cloneRepository.document?.(cloned));
  talk.notice(cloned.head === undefined ? 'It has no commit yet.' : `It is at ${cloned.head.slice(0, 12)}.`);
  talk.result(cloned.path);
}

export const presented = {
  'sandbox-clone': { operation: cloneRepository, present: clone },
  'sandbox-milestone': { operation: cutMilestone, present: milestone },
  'sandbox-delete': { operation: deleteSandbox, present: remove },
  'sandbox-pause': { operation: pauseSandbox, present: pause },
  'sandbox-resume': { operation: resumeSandbox, present: resume },
  'sandbox-restore': { operation: restoreRevision, present: restore },
  'sandbox-undo': { operation: undoRevision, present: undo },
  'sandbox-recover': { operation: recoverSandbox, present: recover },
  'sandbox-worktree': { operation: exportWorktree, present: worktree },
} as const;
