import {
  type Asker,
  type CallOptions,
  type Clock,
  type DiffOptions,
  encodeRaw,
  LitterboxError,
  type ObjectId,
  type RecordedWork,
  type RepositoryId,
  type RevisionMessage,
  type SandboxId,
  type SourceRepository,
} from '@litterbox/core/provider';
import { digestOf, differences, isSameFile, entriesOf, entriesUnlike, type FileTree, putFile } from './file-tree.ts';
import { findMemoryBase } from './find-memory-base.ts';
import { memoryBlame } from './memory-blame.ts';
import { branchOf, historyOf, type KeptHistory, resolved, tipOf, treeAt, unmilestonedOf } from './kept-history.ts';
import { memoryIntegration, riskyOf } from './memory-integration.ts';
import { EXPORTS, type PersonalRepository } from './personal-repository.ts';
import { recordedTree } from './recorded-tree.ts';
import { changesBetween, unifiedDiff } from './tree-diff.ts';
import { writeTar } from '../tools/write-tar.ts';

/** What Litterbox keeps of one repository of a person's. */
export interface KeptRepository {
  readonly id: RepositoryId;
  readonly person: PersonalRepository;
  readonly histories: Map<SandboxId, KeptHistory>;
  /** False for the one of sandboxes that begin with files. */
  readonly isPersons: boolean;
}

/** The port over a repository in memory. */
export function memoryRepository(
  { id: repositoryId, person, histories, isPersons }: KeptRepository,
  clock: Clock,
  asker: Asker = 'person',
): SourceRepository {
  const integration = memoryIntegration(person);
  const begun = (options?: CallOptions) => options?.signal?.throwIfAborted();
  const of = (id: SandboxId): KeptHistory => {
    const history = histories.get(id);
    if (history) return history;
    throw new LitterboxError('NOT_FOUND', `There is no history of ${id}.`, { operation: 'repository.history' });
  };
  const assertNew = (id: SandboxId) => {
    if (histories.has(id))
      throw new LitterboxError('ALREADY_EXISTS', `${id} has a history.`, { operation: 'repository.begin' });
  };
  const append = (history: KeptHistory, tree: FileTree, message: RevisionMessage) => {
    const number = tipOf(history).number + 1;
    const atMs = clock.wallMs();
    const { id: commit, tree: treeId } = person.keep(tree, [tipOf(history).commit], message.subject, undefined, atMs);
    history.revisions.push({ commit, tree: treeId, number, message, atMs, isMilestone: false });
    return { commit, tree: treeId, number };
  };
  const exportedTree = (history: KeptHistory) => {
    const reviewed = person.refs.get(branchOf(history));
    return (reviewed && person.commits.get(reviewed)?.tree) ?? history.base.tree;
  };
  /** Which two trees are meant. */
  const compared = (
    history: KeptHistory,
    { revision, against, upTo }: DiffOptions = {},
  ): readonly [FileTree, FileTree] => {
    if (revision === undefined && upTo === undefined)
      return [person.treeOf(history.base.tree), person.treeOf(tipOf(history).tree)];
    const wanted = revision ?? upTo ?? history.base.commit;
    const since = against ?? (revision === undefined ? history.base.commit : undefined);
    const before = since === undefined ? treeAt(history, wanted, true) : treeAt(history, since);
    const after = treeAt(history, wanted);
    if (before && after) return [person.treeOf(before), person.treeOf(after)];
    throw new LitterboxError('REV_NOT_FOUND', `There is no revision ${revision}.`, { operation: 'repository.diff' });
  };

  return {
    id: repositoryId,
    root: person.root,
    isPersons,

    async base(source, options) {
      begun(options);
      return findMemoryBase(person, source, asker);
    },

    async leftOut(limit, options) {
      begun(options);
      const paths = differences(person.headTree, person.visible);
      return { paths: paths.slice(0, limit), total: paths.length };
    },

    async drift(tree, options) {
      begun(options);
      const [before, now] = [person.treeOf(tree), person.visible];
      const paths = differences(before, now);
      const gone = paths.flatMap((path) => {
        const was = before.get(path);
        return was && !now.has(path) ? [{ path, type: was.type }] : [];
      });
      return { total: paths.length, paths: paths.slice(0, 100), gone };
    },

    async describe(_base, options) {
      begun(options);
      return { branch: person.headRef.replace('refs/heads/', ''), tags: [] };
    },

    tree: (tree, options) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          const { unlike, paths, timeSeconds, times } = options ?? {};
          const files = person.treeOf(tree);
          const entries = times
            ? entriesOf(new Map([...files].filter(([path]) => times.has(path))))
            : unlike === undefined
              ? entriesOf(files, paths)
              : [...entriesUnlike(files, person.treeOf(unlike)), ...(paths ? entriesOf(files, paths) : [])];
          const newest = times && Math.max(0, ...[...times.values()].map((time) => Math.ceil(Number(time) / 1e9)));
          controller.enqueue(writeTar(entries, newest ?? timeSeconds));
          controller.close();
        },
      }),

    /** Files in memory have no times: none is newer. */
    async workTimes(tree, _sinceSeconds, options) {
      begun(options);
      const files = [...person.treeOf(tree)];
      const others = files.filter(([path, file]) => !isSameFile(file, person.work.get(path)));
      return new Map(others.map(([path]) => [path, undefined]));
    },

    async isUncommitted(_commit, options) {
      begun(options);
      return false;
    },

    async ignoredSecrets(options) {
      begun(options);
      return [];
    },

    async submodules(_tree, options) {
      begun(options);
      return [];
    },

    async largeFiles(_base, options) {
      begun(options);
      return [];
    },

    async contentIds(tree, isWanted, options) {
      begun(options);
      const ids = new Map<string, ObjectId>();
      for (const [path, { content }] of person.treeOf(tree)) if (isWanted(path)) ids.set(path, digestOf(content));
      return ids;
    },

    async begin({ id, slug, base }, options) {
      begun(options);
      assertNew(id);
      const history: KeptHistory = { id, slug, base, createdAtMs: clock.wallMs(), revisions: [], printed: new Map() };
      histories.set(id, history);
      return historyOf(history);
    },

    async fork(source, { id, slug }, options) {
      begun(options);
      const from = of(source);
      assertNew(id);
      const branch = branchOf({ slug });
      if (person.refs.has(branch))
        throw new LitterboxError('CONFLICT', `${branch} is somebody's.`, { operation: 'repository.fork' });
      const revisions = from.revisions.map((revision) => ({ ...revision }));
      const history: KeptHistory = { ...from, id, slug, createdAtMs: clock.wallMs(), revisions, printed: new Map() };
      histories.set(id, history);
      const reviewed = person.refs.get(branchOf(from));
      if (reviewed) person.refs.set(branch, reviewed);
      return historyOf(history);
    },

    async history(id, options) {
      begun(options);
      return historyOf(of(id));
    },

    async *histories(options) {
      begun(options);
      for (const history of histories.values()) yield historyOf(history);
    },

    async works(ids, options) {
      begun(options);
      const works = new Map<SandboxId, RecordedWork>();
      for (const id of ids) {
        const history = histories.get(id);
        if (!history) continue;
        const changes = changesBetween(...compared(history, options));
        const sum = (key: 'addedLines' | 'removedLines') =>
          changes.reduce((all, change) => all + (change[key] ?? 0), 0);
        works.set(id, {
          revisions: history.revisions.length,
          unmilestoned: unmilestonedOf(history),
          files: changes.length,
          addedLines: sum('addedLines'),
          removedLines: sum('removedLines'),
        });
      }
      return works;
    },

    async record(id, request, options) {
      begun(options);
      const history = of(id);
      const before = person.treeOf(tipOf(history).tree);
      const { tree, warnings, ignoreRulesChanged } = await recordedTree(before, request, options);
      begun(options);
      const changedFiles = differences(before, tree).length;
      const told = warnings.slice(0, 100);
      return {
        ...(changedFiles > 0 && { revision: append(history, tree, request.message) }),
        changedFiles,
        ...(ignoreRulesChanged && { ignoreRulesChanged }),
        warnings: told,
        moreWarnings: warnings.length - told.length,
      };
    },

    async milestone(id, message, options) {
      begun(options);
      const history = of(id);
      const revisions = unmilestonedOf(history);
      const last = history.revisions.at(-1);
      if (revisions === 0 || !last) return undefined;
      const branch = branchOf(history);
      const parent = person.refs.get(branch) ?? history.base.commit;
      const { id: commit } = person.keep(person.treeOf(last.tree), [parent], message, branch, clock.wallMs());
      last.isMilestone = true;
      return { commit, branch, revisions };
    },

    async *log(id, options) {
      begun(options);
      const newest = of(id).revisions.toReversed();
      for (const { commit, number, atMs, message, isMilestone } of newest.slice(0, options?.limit)) {
        const { subject, body = '', trailers } = message;
        yield { commit, number, atMs, subject, body, trailers, milestone: isMilestone };
      }
    },

    async *diff(id, options) {
      begun(options);
      const [before, after] = compared(of(id), options);
      for (const path of differences(before, after))
        if (isBelow(path, options?.paths)) yield encodeRaw(unifiedDiff(path, before, after));
    },

    async changes(id, options) {
      begun(options);
      const [before, after] = compared(of(id), options);
      return changesBetween(before, after).filter(({ path }) => isBelow(path, options?.paths));
    },

    async blame(id, path, options) {
      begun(options);
      const { base, revisions } = of(id);
      const all = [{ number: 0, commit: base.commit, tree: base.tree }, ...revisions];
      const end = options?.upTo === undefined ? all.length : all.findIndex(({ commit }) => commit === options.upTo) + 1;
      const states = all.slice(0, end).map(({ number: revision, commit, tree }) => ({
        revision,
        commit,
        tree: person.treeOf(tree),
      }));
      return memoryBlame(states, path);
    },

    async content(id, path, { at, maxBytes, ...options }) {
      begun(options);
      const tree = treeAt(of(id), at);
      const found = tree && person.treeOf(tree).get(path);
      if (found?.type !== 'file') return undefined;
      if (found.content.length <= maxBytes) return found.content;
      throw new LitterboxError('FILE_TOO_LARGE', `${path} is too large.`, { operation: 'repository.content' });
    },

    async resolve(id, name, options) {
      begun(options);
      return resolved(of(id), name);
    },

    async plan(id, request, options) {
      begun(options);
      return integration.plan(of(id), request);
    },

    async execute(plan, options) {
      begun(options);
      return integration.execute(plan, options);
    },

    async forecast(ids, options) {
      begun(options);
      return integration.forecast(ids.flatMap((id) => histories.get(id) ?? []));
    },

    async isMerged(id, options) {
      begun(options);
      return integration.isMerged(of(id));
    },

    async restore(id, revision, message, options) {
      begun(options);
      const history = of(id);
      const tree = treeAt(history, revision);
      if (tree === undefined)
        throw new LitterboxError('REV_NOT_FOUND', `There is no revision ${revision}.`, {
          operation: 'repository.restore',
        });
      return tree === tipOf(history).tree ? undefined : append(history, person.treeOf(tree), message);
    },

    async planExport(id, options) {
      begun(options);
      const tree = exportedTree(of(id));
      const touched = differences(person.headTree, person.treeOf(tree));
      return {
        tree,
        revision: of(id).revisions.findLast(({ isMilestone }) => isMilestone)?.number ?? 0,
        risky: riskyOf(touched),
      };
    },

    async exportTree(id, options) {
      begun(options);
      const history = of(id);
      const tree = person.treeOf(options?.tree ?? exportedTree(history));
      const below = `${EXPORTS}worktrees/${history.slug}`;
      for (const path of person.work.keys()) if (path.startsWith(`${below}/`)) person.work.delete(path);
      for (const [path, { content, isExecutable }] of tree)
        putFile(person.work, `${below}/${path}`, { type: 'file', isExecutable, content });
      return { directory: `${person.root}/${below}`, files: tree.size };
    },

    async keepPrinted(id, { digest, bytes, mostBytes }, options) {
      begun(options);
      const printed = histories.get(id)?.printed;
      if (!printed) return;
      printed.delete(digest);
      printed.set(digest, bytes.slice());
      let keptBytes = [...printed.values()].reduce((sum, { length }) => sum + length, 0);
      for (const [oldest, { length }] of printed) {
        if (keptBytes <= mostBytes) break;
        printed.delete(oldest);
        keptBytes -= length;
      }
    },

    async printed(id, digest, options) {
      begun(options);
      return histories.get(id)?.printed.get(digest)?.slice();
    },

    async remove(id, options) {
      begun(options);
      const history = histories.get(id);
      if (!history) return;
      histories.delete(id);
      person.refs.delete(branchOf(history));
      const below = `${EXPORTS}worktrees/${history.slug}/`;
      for (const path of person.work.keys()) if (path.startsWith(below)) person.work.delete(path);
    },

    async reconcile(options) {
      begun(options);
      return [];
    },

    async [Symbol.asyncDispose]() {},
  };
}

const isBelow = (path: string, paths: readonly string[] | undefined) =>
  paths === undefined || paths.some((prefix) => path === prefix || path.startsWith(`${prefix.replace(/\/$/, '')}/`));
