import {
  type Base,
  LitterboxError,
  type ObjectId,
  type Revision,
  type RevisionMessage,
  type SandboxHistory,
  type SandboxId,
  type Slug,
} from '@litterbox/core/provider';

/** A revision, and whether a milestone was cut at it. */
export interface KeptRevision extends Revision {
  readonly message: RevisionMessage;
  readonly atMs: number;
  isMilestone: boolean;
}

/** The history of one sandbox. */
export interface KeptHistory {
  readonly id: SandboxId;
  readonly slug: Slug;
  readonly base: Base;
  readonly createdAtMs: number;
  readonly revisions: KeptRevision[];
  /** Outputs of commands by digest, kept longest ago first. */
  readonly printed: Map<string, Uint8Array>;
}

export const branchOf = ({ slug }: Pick<KeptHistory, 'slug'>) => `refs/heads/litterbox/${slug}`;

export function tipOf({ base, revisions }: KeptHistory): Revision {
  const last = revisions.at(-1);
  return last
    ? { commit: last.commit, tree: last.tree, number: last.number }
    : { commit: base.commit, tree: base.tree, number: 0 };
}

export function unmilestonedOf({ revisions }: KeptHistory): number {
  return revisions.length - (revisions.findLastIndex(({ isMilestone }) => isMilestone) + 1);
}

export function historyOf(kept: KeptHistory): SandboxHistory {
  const { id, slug, base, createdAtMs } = kept;
  return { id, slug, base: { ...base }, tip: tipOf(kept), unmilestoned: unmilestonedOf(kept), createdAtMs };
}

/** By number, or by the beginning of its id; the base is 0. @throws LitterboxError `REV_NOT_FOUND`, `REV_AMBIGUOUS`, `REV_INVALID`. */
export function resolved({ base, revisions }: KeptHistory, name: string): Revision {
  const fail = (code: 'REV_NOT_FOUND' | 'REV_AMBIGUOUS' | 'REV_INVALID') =>
    new LitterboxError(code, `There is no one revision ${JSON.stringify(name)}.`, { operation: 'repository.resolve' });
  if (!/^[0-9a-f]{1,40}$/.test(name)) throw fail('REV_INVALID');
  const isNumber = /^\d{1,6}$/.test(name);
  const all: readonly Revision[] = [{ commit: base.commit, tree: base.tree, number: 0 }, ...revisions];
  const [found, ...more] = all.filter((one) => (isNumber ? one.number === Number(name) : one.commit.startsWith(name)));
  if (!found) throw fail('REV_NOT_FOUND');
  if (more.length > 0) throw fail('REV_AMBIGUOUS');
  const { commit, tree, number } = found;
  return { commit, tree, number };
}

/** The revision of that id, or the base; the one before it where that is asked for. */
export function treeAt({ base, revisions }: KeptHistory, commit: ObjectId, isBefore = false): ObjectId | undefined {
  const index = revisions.findIndex((one) => one.commit === commit);
  if (index === -1) return commit === base.commit && !isBefore ? base.tree : undefined;
  return isBefore ? (revisions[index - 1]?.tree ?? base.tree) : revisions[index]?.tree;
}
