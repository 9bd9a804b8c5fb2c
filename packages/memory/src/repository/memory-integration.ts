import {
  encodeRaw,
  type Forecast,
  type IntegrationPlan,
  type IntegrationResult,
  LitterboxError,
  type LitterboxErrorCode,
  type PlanRequest,
  type RiskyChange,
} from '@litterbox/core/provider';
import { differences, type FileTree, isSameFile, putFile, type TreeFile } from './file-tree.ts';
import { type KeptHistory, tipOf, unmilestonedOf } from './kept-history.ts';
import type { PersonalRepository } from './personal-repository.ts';
import { changesBetween } from './tree-diff.ts';

const ARGUMENTS = new Set(['--squash', '--no-ff', '--ff', '--ff-only', '--signoff']);
/** A few of those that the adapter of git knows: enough to be asked about them. */
const RISKY = /^(?:\.vscode|\.husky|\.github)\/|(?:^|\/)(?:Makefile|package\.json|\.envrc)$/;

/** What of the paths can run code. */
export function riskyOf(paths: readonly string[]): readonly RiskyChange[] {
  return paths.filter((path) => RISKY.test(path)).map((path) => ({ path, reasons: ['runs when somebody works here'] }));
}

/** What a plan holds for its execution. */
interface Token {
  readonly theirs: FileTree;
  readonly base: FileTree;
  readonly isSquash: boolean;
  readonly message: string;
}

/** Merges and applies file by file: what both sides changed is a conflict as a whole. */
export function memoryIntegration(person: PersonalRepository) {
  /** Where the two came apart last: what was merged before, or the base. */
  const startOf = (history: KeptHistory): FileTree => {
    const merged = history.revisions.findLast(({ commit }) => person.isReachable(commit, person.head?.id));
    return person.treeOf(merged?.tree ?? history.base.tree);
  };

  const isMerged = (history: KeptHistory): boolean => {
    const tip = tipOf(history);
    if (person.isReachable(tip.commit, person.head?.id)) return true;
    const theirs = person.treeOf(tip.tree);
    const changed = differences(person.treeOf(history.base.tree), theirs);
    return changed.every((path) => isSameFile(theirs.get(path), person.headTree.get(path)));
  };

  /** As {@link plan} has conflicts: what both sides changed, as a whole. */
  const forecast = (works: readonly KeptHistory[]): Forecast => {
    const sides = works.map((history) => {
      const [base, theirs] = [startOf(history), person.treeOf(tipOf(history).tree)];
      return { id: history.id, base, theirs, changed: differences(base, theirs) };
    });
    const meet = (one: (typeof sides)[number], tree: FileTree, paths: readonly string[]) =>
      paths.filter((path) => one.changed.includes(path) && !isSameFile(one.theirs.get(path), tree.get(path)));
    const withHead = sides.map((one) => ({
      sandbox: one.id,
      paths: meet(one, person.headTree, differences(one.base, person.headTree)),
    }));
    const pairs = sides.flatMap((one, index) =>
      sides
        .slice(index + 1)
        .map((other) => ({ sandbox: one.id, other: other.id, paths: meet(one, other.theirs, other.changed) })),
    );
    return { conflicts: [...withHead, ...pairs].filter(({ paths }) => paths.length > 0), untried: 0 };
  };

  const plan = (history: KeptHistory, request: PlanRequest): IntegrationPlan => {
    const { integration, arguments: args, message, paths = [] } = request;
    const unknown = args.find((argument) => !ARGUMENTS.has(argument));
    if (unknown !== undefined) throw refuse('MERGE_ARG_NOT_ALLOWED', `${unknown} is not let through.`);
    if (request.commit) throw refuse('UNSUPPORTED', 'In memory an apply leaves the commit to the person.');
    if (person.isMerging) throw refuse('MERGE_IN_PROGRESS', 'A merge has not ended yet.');
    const { head } = person;
    if (!head) throw refuse('UNBORN_HEAD', 'The repository has no commit yet.');
    const tip = tipOf(history);
    const [base, ours, theirs] = [startOf(history), person.headTree, person.treeOf(tip.tree)];
    const isAt = (place: string) => (path: string) => `${path}/`.startsWith(`${place.replace(/\/+$/, '')}/`);
    const changed = differences(base, theirs);
    const missing = paths.find((place) => !changed.some(isAt(place)));
    if (missing !== undefined) throw refuse('NOT_FOUND', `Nothing changed at ${missing}.`);
    const touched = changed
      .filter((path) => paths.length === 0 || paths.some((place) => isAt(place)(path)))
      .filter((path) => !isSameFile(ours.get(path), theirs.get(path)));
    const conflicts = touched.filter((path) => !isSameFile(base.get(path), ours.get(path)));
    const result = new Map<string, TreeFile>(ours);
    for (const path of touched) setFile(result, path, theirs.get(path));
    const token: Token = {
      theirs,
      base,
      isSquash: args.includes('--squash'),
      message: message ?? `Merge ${tip.commit}`,
    };
    return {
      integration,
      sandbox: history.id,
      slug: history.slug,
      tip: tip.commit,
      head: head.id,
      headRef: person.headRef,
      changes: changesBetween(ours, result),
      conflicts,
      risky: riskyOf(touched),
      dirtyOverlap: person.edited.filter((path) => touched.includes(path)),
      upToDate: person.isReachable(tip.commit, head.id) || (integration === 'apply' && touched.length === 0),
      unmilestoned: history.revisions.some(({ isMilestone }) => isMilestone) ? unmilestonedOf(history) : 0,
      messages: integration === 'merge' && !token.isSquash ? [token.message] : [],
      token,
    };
  };

  const execute = (planned: IntegrationPlan, { autostash }: { readonly autostash: boolean }): IntegrationResult => {
    const { head } = person;
    if (head?.id !== planned.head) throw refuse('HEAD_MOVED', 'HEAD is another commit by now.');
    if (planned.upToDate) return { outcome: 'up-to-date', conflicts: [] };
    const { theirs, isSquash, message } = planned.token as Token;
    const touched = [...new Set([...planned.changes.map(({ path }) => path), ...planned.conflicts])];
    const edits = person.edited.filter((path) => touched.includes(path));
    if (edits.length > 0 && !autostash)
      throw refuse('DIRTY_WORKTREE', `Uncommitted edits are in the way: ${edits.join(', ')}.`);
    for (const path of touched)
      if (!edits.includes(path))
        setFile(person.work, path, planned.conflicts.includes(path) ? both(path, theirs) : theirs.get(path));
    if (planned.conflicts.length > 0) {
      person.isMerging = planned.integration === 'merge';
      return { outcome: 'conflicts', conflicts: planned.conflicts };
    }
    if (planned.integration === 'apply' || isSquash) return { outcome: 'staged', conflicts: [] };
    const merged = new Map<string, TreeFile>(person.headTree);
    for (const path of touched) setFile(merged, path, theirs.get(path));
    const { id } = person.keep(merged, [head.id, planned.tip], message, person.headRef);
    return { outcome: 'committed', commit: id, conflicts: [] };
  };

  /** Both sides in one file, as git leaves them. */
  const both = (path: string, theirs: FileTree): TreeFile => {
    const [ours, other] = [person.headTree, theirs].map((tree) => Buffer.from(tree.get(path)?.content ?? []));
    const marked = ['<<<<<<< HEAD\n', ours, '=======\n', other, '>>>>>>> sandbox\n'].map((part) =>
      typeof part === 'string' ? encodeRaw(part) : (part ?? new Uint8Array()),
    );
    return { type: 'file', isExecutable: false, content: Buffer.concat(marked) };
  };

  return { forecast, isMerged, plan, execute };
}

function setFile(tree: Map<string, TreeFile>, path: string, file: TreeFile | undefined): void {
  if (file) putFile(tree, path, file);
  else tree.delete(path);
}

function refuse(code: LitterboxErrorCode, message: string): LitterboxError {
  return new LitterboxError(code, message, { operation: 'repository.integrate' });
}
