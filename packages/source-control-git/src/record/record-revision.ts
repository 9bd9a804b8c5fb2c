import {
  type CallOptions,
  failpoint,
  type ObjectId,
  type RecordRequest,
  type RevisionResult,
  type SandboxId,
} from '@litterbox/core/provider';
import { editTree } from '../objects/edit-tree.ts';
import type { IgnoreMatcher } from '../ignore/ignore-matcher.ts';
import { moveJournalled } from '../store/move-journalled.ts';
import { settleJournal } from '../store/settle-journal.ts';
import type { Store } from '../store/store.ts';
import { collectFiles } from './collect-files.ts';
import { putCommit } from './put-commit.ts';
import { OPERATION, Recording } from './recording.ts';
import { haveRulesChanged, keepUntrackedRules, settleRules } from './settle-rules.ts';

/** A journal of this size could not be settled for a long time, and must not grow for ever. */
const MAX_JOURNAL_BYTES = 8 * 1024 * 1024;

export interface Recorded {
  readonly result: RevisionResult;
  /** Objects written as single files: the measure for repacking. */
  readonly looseObjects: number;
}

export async function recordRevision(
  store: Store,
  matcher: IgnoreMatcher,
  id: SandboxId,
  request: RecordRequest,
  options: CallOptions | undefined,
): Promise<Recorded> {
  using recording = await Recording.begin({ store, matcher, id, request, options });
  const { began, scanned, sink } = recording;
  await settleRules(recording);
  await recording.warnOfRefusals();
  const { changedFiles, recordedRules } = await collectFiles(recording);
  const ignoreRulesChanged = await haveRulesChanged(recording);
  keepUntrackedRules(recording, recordedRules);
  const rules = await editTree(store.reader, sink, began.rules, scanned.ruleEdits);
  const tree = (await editTree(store.reader, sink, began.tree, scanned.edits)) ?? sink.put('tree', Buffer.alloc(0));
  const remarks = { ignoreRulesChanged, ...recording.warnings.result() };
  if (tree === began.tree && rules === began.rules) return { result: { changedFiles: 0, ...remarks }, looseObjects: 0 };
  const number = began.number + 1;
  const { commit, looseObjects } = await moveTip(recording, { tree, rules, number });
  if (commit === began.tip) return { result: { changedFiles: 0, ...remarks }, looseObjects };
  return { result: { revision: { commit, tree, number }, changedFiles, ...remarks }, looseObjects };
}

/** Writes the commit where the tree differs, and moves the sandbox's refs to what was recorded. */
async function moveTip(
  { store, sink, began, refs, message, signal }: Recording,
  { tree, rules, number }: { readonly tree: ObjectId; readonly rules: ObjectId | undefined; readonly number: number },
): Promise<{ readonly commit: ObjectId; readonly looseObjects: number }> {
  failpoint('record.after-tree');
  const { tip: parent, atSeconds } = began;
  const commit = tree === began.tree ? parent : putCommit(sink, { tree, parent, atSeconds, number }, message);
  failpoint('record.after-commit');
  const objects = store.journal.usage.bytes < MAX_JOURNAL_BYTES ? sink.journalled : undefined;
  const looseObjects = objects ? 0 : sink.looseCount;
  if (!objects) {
    await settleJournal(store, signal); // it must not hold older values of refs that are changed without it
    await sink.finish();
  }
  signal?.throwIfAborted();
  await store.lock.hold(OPERATION, async () => {
    store.refs.expect(refs.tip, began.tip);
    failpoint('record.before-ref');
    const moves = [
      { name: refs.rules, old: began.rules, value: rules },
      { name: refs.tip, old: began.tip, value: commit },
    ].filter(({ old, value }) => old !== value);
    if (objects) await moveJournalled(store, sink, { refs: moves, objects });
    else
      for (const { name, value } of moves)
        await (value === undefined ? store.refs.remove(name) : store.refs.write(name, value));
    failpoint('record.after-ref');
  });
  return { commit, looseObjects };
}
