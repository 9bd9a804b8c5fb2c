import { type ObjectId, type SandboxId } from '@litterbox/core/provider';
import { sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';

/** A commit of the person's that holds a sandbox's work up to a revision. */
export interface TakenWork {
  readonly commit: ObjectId;
  /** The revision up to which it holds the work. */
  readonly tip: ObjectId;
}

/** More integrations of one sandbox than these are no way to work; the oldest are forgotten. */
const MAX_TAKEN = 32;

/**
 * What integrations made of a sandbox's work, oldest first. Whether the person kept such a commit is theirs to decide, so the commits are
 * named in a blob: a ref to one that their garbage collection took would be a damaged ref.
 */
export async function readTaken(store: Store, id: SandboxId): Promise<readonly TakenWork[]> {
  const oid = store.refs.read(sandboxRefs(id).taken);
  if (oid === undefined) return [];
  return JSON.parse((await store.reader.blob(oid)).toString()) as readonly TakenWork[];
}

/** Remembers one more. A history that was removed meanwhile remembers nothing. */
export async function rememberTaken(store: Store, id: SandboxId, taken: TakenWork): Promise<void> {
  await store.lock.hold('integration.execute', async () => {
    const refs = sandboxRefs(id);
    if (store.refs.read(refs.meta) === undefined) return;
    const before = (await readTaken(store, id)).filter(({ commit }) => commit !== taken.commit);
    const all = JSON.stringify([...before, taken].slice(-MAX_TAKEN));
    await store.refs.write(refs.taken, await store.put((sink) => sink.put('blob', Buffer.from(all))));
  });
}
