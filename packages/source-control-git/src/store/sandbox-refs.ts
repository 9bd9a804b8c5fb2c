import {
  isLitterboxError,
  type Base,
  LitterboxError,
  type ObjectId,
  type Revision,
  SandboxId,
  type SandboxHistory,
  type Slug,
} from '@litterbox/core/provider';
import type { RefFiles } from '../objects/ref-files.ts';
import type { Store } from './store.ts';

const ROOT = 'refs/litterbox';
export const TOMBSTONES = `${ROOT}/tombstones`;

/** Names of the refs a sandbox has in the store. */
export function sandboxRefs(id: SandboxId) {
  const root = `${ROOT}/${id}`;
  return {
    root,
    /** Written last at the start, removed first at the end: without it there is no sandbox. */
    meta: `${root}/meta`,
    base: `${root}/base`,
    /** The commit of the user's repository whose objects the history needs. */
    pin: `${root}/pin`,
    tip: `${root}/tip`,
    /** A tree of the `.gitignore` files that git itself would not track, such as the one in a Python environment. */
    rules: `${root}/rules`,
    /** `milestones/<number of the revision>`: the commit on the review branch. */
    milestones: `${root}/milestones`,
    /** A blob that names what integrations made of the work. */
    taken: `${root}/taken`,
    tombstone: `${TOMBSTONES}/${id}`,
  };
}

/** The pin in the user's repository: the one thing there that is ours before an apply. */
export const pinRef = (id: SandboxId) => `${ROOT}/base/${id}`;
export const reviewBranch = (slug: Slug) => `refs/heads/litterbox/${slug}`;

export interface SandboxMeta {
  readonly version: 1;
  readonly slug: Slug;
  readonly base: Base;
  readonly createdAtMs: number;
  /** The base is a commit of uncommitted work that the person never made. */
  readonly synthetic: boolean;
  /** Of a fork: the sandbox that it and all other forks of its family come from, which may be gone. */
  readonly family?: SandboxId;
}

/** @throws LitterboxError `NOT_FOUND`, `STORE_CORRUPT`. */
export async function readMeta(store: Store, id: SandboxId): Promise<SandboxMeta> {
  const oid = store.refs.read(sandboxRefs(id).meta);
  if (oid === undefined) {
    throw new LitterboxError('NOT_FOUND', `There is no history of sandbox ${id}.`, { operation: 'history.read' });
  }
  try {
    const meta = JSON.parse((await store.reader.blob(oid)).toString()) as SandboxMeta;
    if (meta.version === 1) return meta;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw new LitterboxError('STORE_CORRUPT', `The record of sandbox ${id} is damaged.`, { operation: 'history.read' });
}

/** @throws LitterboxError `NOT_FOUND`. */
export async function readTip(store: Store, id: SandboxId): Promise<Revision> {
  const commit = store.refs.read(sandboxRefs(id).tip);
  if (commit === undefined || store.refs.read(sandboxRefs(id).meta) === undefined) {
    throw new LitterboxError('NOT_FOUND', `There is no history of sandbox ${id}.`, { operation: 'history.read' });
  }
  const { tree, revision } = await store.reader.commit(commit);
  return { commit, tree, number: revision?.number ?? 0 };
}

/** Milestones by the number of the revision they were cut at, oldest first. */
export async function readMilestones(
  store: Store,
  id: SandboxId,
): Promise<readonly { readonly number: number; readonly commit: ObjectId }[]> {
  const { milestones } = sandboxRefs(id);
  const found: { number: number; commit: ObjectId }[] = [];
  for (const number of milestoneNumbers(store.refs, id)) {
    const commit = store.refs.read(`${milestones}/${number}`);
    if (commit !== undefined) found.push({ number, commit });
  }
  return found;
}

/** Numbers of the revisions that milestones were cut at, oldest first. */
export const milestoneNumbers = (refs: RefFiles, id: SandboxId): readonly number[] =>
  refs
    .list(sandboxRefs(id).milestones)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

export async function readHistory(store: Store, id: SandboxId): Promise<SandboxHistory> {
  const { slug, base, createdAtMs } = await readMeta(store, id);
  const tip = await readTip(store, id);
  const milestones = await readMilestones(store, id);
  return { id, slug, base, tip, unmilestoned: tip.number - (milestones.at(-1)?.number ?? 0), createdAtMs };
}

export async function listSandboxes(store: Store): Promise<readonly SandboxId[]> {
  return store.refs.list(ROOT).sort().filter(SandboxId.is);
}

export async function* readHistories(store: Store): AsyncGenerator<SandboxHistory, void, undefined> {
  for (const name of await listSandboxes(store)) {
    const isThere = () => store.refs.read(sandboxRefs(name).meta) !== undefined;
    if (!isThere()) continue;
    try {
      yield await readHistory(store, name);
    } catch (error) {
      if (!isLitterboxError(error, 'NOT_FOUND') || isThere()) throw error; // else somebody removed it at this moment
    }
  }
}
