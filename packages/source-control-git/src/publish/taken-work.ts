import { type ObjectId, SandboxId } from '@litterbox/core/provider';
import { listSandboxes, readMeta, sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';

/** What an integration brought into a branch of the person's. */
export interface TakenWork {
  /** The person's commit that holds the work. Absent when the person makes it themselves: after an apply, a squash, or a conflict. */
  readonly commit?: ObjectId;
  /** The sandbox's revision up to which its work came along. */
  readonly tip: ObjectId;
  /** The last revision that came along, of a sandbox of the same family that had gone on from `tip`. It may be gone. */
  readonly last?: ObjectId;
}

/** More integrations of one sandbox than these are no way to work; the oldest are forgotten. */
const MAX_TAKEN = 32;

/**
 * What integrations brought in of a sandbox's work, oldest first. Whether the person kept such a commit is theirs to decide, so the commits
 * are named in a blob: a ref to one that their garbage collection took would be a damaged ref.
 */
export async function readTaken(store: Store, id: SandboxId): Promise<readonly TakenWork[]> {
  const oid = store.refs.read(sandboxRefs(id).taken);
  if (oid === undefined) return [];
  return JSON.parse((await store.reader.blob(oid)).toString()) as readonly TakenWork[];
}

/**
 * Remembers one more, in the sandbox and in its forks, their forks, and what it was forked from: each up to the last revision that it
 * shares. They have to know by themselves, because a merge deletes the sandbox.
 */
export async function rememberTaken(store: Store, id: SandboxId, taken: TakenWork): Promise<void> {
  await remember(store, id, taken);
  for (const relative of await relativesOf(store, id)) {
    const tip = await lastShared(store, relative, taken.tip);
    if (tip === undefined) continue;
    await remember(store, relative, { ...taken, tip, ...(tip !== taken.tip && { last: taken.tip }) });
  }
}

/** A history that was removed meanwhile remembers nothing. */
async function remember(store: Store, id: SandboxId, taken: TakenWork): Promise<void> {
  await store.lock.hold('integration.execute', async () => {
    const refs = sandboxRefs(id);
    if (store.refs.read(refs.meta) === undefined) return;
    const isSame = ({ commit, tip }: TakenWork) => commit === taken.commit && tip === taken.tip;
    const before = (await readTaken(store, id)).filter((one) => !isSame(one));
    const all = JSON.stringify([...before, taken].slice(-MAX_TAKEN));
    await store.refs.write(refs.taken, await store.put((sink) => sink.put('blob', Buffer.from(all))));
  });
}

/** A family is every sandbox that was made by forks of one, or of a fork of it. One whose record is damaged is left out. */
async function relativesOf(store: Store, id: SandboxId): Promise<readonly SandboxId[]> {
  const family = async (one: SandboxId) => (await readMeta(store, one).catch(() => undefined))?.family ?? one;
  const own = await family(id);
  const relatives: SandboxId[] = [];
  for (const one of await listSandboxes(store)) if (one !== id && (await family(one)) === own) relatives.push(one);
  return relatives;
}

/** The last revision that a sandbox has in common with another's. */
async function lastShared(store: Store, id: SandboxId, tip: ObjectId): Promise<ObjectId | undefined> {
  const own = store.refs.read(sandboxRefs(id).tip);
  if (own === undefined) return undefined;
  const { code, stdout } = await store.run(['merge-base', own, tip]);
  if (code !== 0) return undefined;
  const shared = stdout.toString().trim() as ObjectId;
  return (await store.reader.commit(shared)).revision === undefined ? undefined : shared;
}
