import {
  type LogEntry,
  type ObjectId,
  LitterboxError,
  type Revision,
  type SandboxId,
  shown,
  advice,
  step,
} from '@litterbox/core/provider';
import { parseMessage } from '../objects/commit-object.ts';
import { readMeta, readMilestones, readTip, sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';

const OPERATION = 'revision.resolve';

/** Newest first. */
export async function* readLog(
  store: Store,
  id: SandboxId,
  options: { readonly limit?: number; readonly signal?: AbortSignal | undefined } | undefined,
): AsyncGenerator<LogEntry, void, undefined> {
  const { commit: tip } = await readTip(store, id);
  const milestones = new Set((await readMilestones(store, id)).map(({ number }) => number));
  const limit = options?.limit ?? Number.POSITIVE_INFINITY;
  let commit: ObjectId | undefined = tip;
  for (let count = 0; count < limit && commit !== undefined; count++) {
    options?.signal?.throwIfAborted();
    const { revision, parents, atSeconds, message } = await store.reader.commit(commit);
    if (!revision) return; // the base
    const { subject, body = '', trailers } = parseMessage(message, revision.trailers);
    const milestone = milestones.has(revision.number);
    yield { commit, number: revision.number, atMs: atSeconds * 1000, subject, body, trailers, milestone };
    commit = parents[0];
  }
}

/** Ids of all revisions, newest first, the base last. */
async function listRevisions(store: Store, id: SandboxId, signal: AbortSignal | undefined): Promise<ObjectId[]> {
  const { commit: tip, number } = await readTip(store, id);
  const args = ['rev-list', '--first-parent', `--max-count=${number}`, tip];
  const listed = number === 0 ? '' : (await store.output(args, { signal })).toString();
  const base = store.refs.read(sandboxRefs(id).base);
  return [...listed.split('\n').filter(Boolean), ...(base === undefined ? [] : [base])] as ObjectId[];
}

/** @throws LitterboxError `REV_NOT_FOUND`, `REV_AMBIGUOUS`, `REV_INVALID`. */
export async function resolveRevision(
  store: Store,
  id: SandboxId,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Revision> {
  const { slug } = await readMeta(store, id);
  const hint = advice`List the revisions: ${step('sandbox-log', { sandbox: slug })}.`;
  if (!/^(?:\d{1,9}|[0-9a-fA-F]{4,64})$/.test(name)) {
    throw new LitterboxError('REV_INVALID', `${shown(name)} is neither a number nor a commit id.`, {
      operation: OPERATION,
      hint,
    });
  }
  const revisions = await listRevisions(store, id, signal);
  const newest = revisions.length - 1;
  const byNumber = /^\d{1,9}$/.test(name) ? revisions[newest - Number(name)] : undefined;
  const prefix = name.toLowerCase();
  const found = byNumber ? [byNumber] : name.length < 4 ? [] : revisions.filter((oid) => oid.startsWith(prefix));
  const [commit] = found;
  if (commit === undefined) {
    throw new LitterboxError('REV_NOT_FOUND', `The sandbox has no revision ${shown(name)}.`, {
      operation: OPERATION,
      hint,
    });
  }
  if (found.length > 1) {
    throw new LitterboxError('REV_AMBIGUOUS', `${shown(name)} is the start of ${found.length} revisions' ids.`, {
      operation: OPERATION,
      hint: 'Give more digits.',
    });
  }
  return { commit, tree: await store.commitTree(commit), number: newest - revisions.indexOf(commit) };
}
