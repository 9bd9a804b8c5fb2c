import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LitterboxError, visibleName } from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { parentOf } from '../ignore/ignore-matcher.ts';
import { type ChangedEntry, findLooseAlready, findStagedAlready, readChangedEntries } from '../person/already-there.ts';
import { findLeftOutFiles } from '../ignore/left-out-files.ts';
import { findMarkedFiles, type MarkedFiles } from '../person/marked-files.ts';
import { onDisk } from '../git/on-disk.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** Files in a git directory that mean something else is under way. */
const UNDER_WAY = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'MERGE_AUTOSTASH',
];

/** @throws LitterboxError `MERGE_IN_PROGRESS`. */
export async function requireNothingUnderWay(user: UserRepository, signal: AbortSignal | undefined): Promise<void> {
  for (const name of UNDER_WAY) {
    if (await exists(join(user.gitDirectory, name))) throw underWay(`${name} is there`);
  }
  const unmerged = await user.output(['ls-files', '-z', '--unmerged'], { signal });
  if (unmerged.length > 0) throw unsettled(unmerged);
}

/** Of no merge that git knows of: edits that were put aside went back on top of other ones. */
function unsettled(unmerged: Uint8Array): LitterboxError {
  const lines = Buffer.from(unmerged).toString('latin1').split('\0').filter(Boolean);
  const files = [...new Set(lines.map((line) => fromByteString(line.slice(line.indexOf('\t') + 1))))];
  const named = files.slice(0, 5).map((file) => visibleName(file));
  return new LitterboxError(
    'MERGE_IN_PROGRESS',
    `${files.length === 1 ? 'One file' : `${files.length} files`} in your work tree still conflict${files.length === 1 ? 's' : ''}, as edits of yours do that git stash put back: ${named.join(', ')}${files.length > named.length ? ' …' : ''}.`,
    {
      operation: 'integration.plan',
      hint: 'Resolve the files, run git add, and git stash drop where the stash is no longer needed. Or take the files without those edits, with git checkout --ours and git add, and run git stash pop later.',
      facts: { conflicts: files },
    },
  );
}

function underWay(why: string): LitterboxError {
  return new LitterboxError('MERGE_IN_PROGRESS', `Another merge, rebase or pick is under way: ${why}.`, {
    operation: 'integration.plan',
    hint: 'Finish it, or undo it with git merge --abort or git rebase --abort.',
  });
}

/**
 * A lock that does not hold our own marker is never ours to remove, even if a killed git of ours may have left it.
 *
 * @throws LitterboxError `USER_REPO_LOCKED`.
 */
export async function requireUnlocked(
  user: UserRepository,
  headRef: string | undefined,
  marker?: string,
): Promise<void> {
  const locks = [
    join(user.gitDirectory, 'index.lock'),
    join(user.gitDirectory, 'HEAD.lock'),
    ...(headRef === undefined ? [] : [join(user.commonDirectory, `${headRef}.lock`)]),
  ];
  for (const path of locks) {
    const found = await stat(path).catch(() => undefined);
    if (!found || (marker !== undefined && (await readFile(path, 'latin1').catch(() => '')) === marker)) continue;
    throw lockedBy(path, found.mtimeMs);
  }
}

export function lockedBy(path: string, sinceMs: number): LitterboxError {
  const ageSeconds = Math.max(0, Math.round((Date.now() - sinceMs) / 1000));
  return new LitterboxError('USER_REPO_LOCKED', `The repository is locked by ${path}, made ${ageSeconds} s ago.`, {
    operation: 'integration.execute',
    hint: 'Wait for the git that runs there. If none does, remove the file yourself.',
    facts: { path, ageSeconds },
  });
}

/** What of the work tree a result would run over. */
export interface Overlap {
  /** Tracked files with changes: a stash can hold them. */
  readonly tracked: readonly ByteString[];
  /** All tracked files with changes, those that the result does not touch too: a stash takes them all. */
  readonly dirty: readonly ByteString[];
  /** Files git does not know: nothing but their owner can move them. */
  readonly untracked: readonly ByteString[];
  /** Edits that git was told not to look at: no stash takes them. */
  readonly hidden: readonly ByteString[];
  /** All of those that a stash would lose, wherever they are: it puts every file back that is assumed to be unchanged. */
  readonly lostByStash: readonly ByteString[];
  /** Files that are in index and work tree as the steps begin with them, where that is not the last commit: parts of an apply before. */
  readonly begun: readonly ByteString[];
  /** Files that are in index and work tree as the result has them, or for an apply in the work tree alone: nothing is left to do there. */
  readonly already: ReadonlySet<ByteString>;
  /** Those of them that git does not know: no stash takes them. */
  readonly alreadyUntracked: ReadonlySet<ByteString>;
  /** Marks of files that the result touches, to be set again. */
  readonly marks: Pick<MarkedFiles, 'assumedUnchanged' | 'skipped'>;
  /** Paths of the result that a sparse checkout leaves out of the work tree. */
  readonly leftOut: ReadonlySet<ByteString>;
}

export const NO_OVERLAP: Overlap = {
  tracked: [],
  dirty: [],
  untracked: [],
  hidden: [],
  lostByStash: [],
  begun: [],
  already: new Set(),
  alreadyUntracked: new Set(),
  marks: { assumedUnchanged: [], skipped: [] },
  leftOut: new Set(),
};

/** How a result meets the work tree. */
export interface OverlapOptions {
  /** Whether the person commits the result themselves, so that what the work tree has needs not be in the index. */
  readonly isStaging: boolean;
  /** Files that the work tree is to have as the steps begin with them, whatever the index has. @defaultValue none */
  readonly begun?: ReadonlySet<ByteString>;
  /** Files that differ from the last commit, where they are known. */
  readonly changed?: readonly ChangedEntry[];
}

export async function findOverlap(
  user: UserRepository,
  steps: readonly PathStep[],
  { isStaging, begun = new Set(), changed }: OverlapOptions,
  signal: AbortSignal | undefined,
): Promise<Overlap> {
  const byPath = new Map(steps.map((step) => [step.path, step] as const));
  const written = new Set(steps.filter((step) => step.new).map(({ path }) => path));
  const removed = new Set(steps.filter((step) => !step.new).map(({ path }) => path));
  const entries = changed ?? (await readChangedEntries(user, signal));
  const isBegun = ({ path, isAsStaged, mode, oid }: ChangedEntry) => {
    const old = byPath.get(path)?.old;
    return isAsStaged && old?.mode === mode && old.oid === oid;
  };
  const before = steps
    .filter(({ path }) => begun.has(path))
    .map(({ path, old }) => ({ path, ...(old && { new: old }) }));
  const stillBegun = new Set([
    ...entries.filter(isBegun).map(({ path }) => path),
    ...(await findLooseAlready(user, before, signal)),
  ]);
  const inTheWay = entries
    .map(({ path }) => path)
    .filter((path) => !stillBegun.has(path))
    .filter((path) => byPath.has(path) || [...ancestorsOf(path)].some((above) => written.has(above)));
  const files = (await user.output(['ls-files', '-v', '-z'], { signal })).toString('latin1').split('\0');
  const untracked = await findUntracked(user, written, removed, files);
  const staged = await findStagedAlready(user, byPath, entries);
  const isOpen = (path: ByteString) => !staged.has(path);
  const candidates = isStaging
    ? [...inTheWay.filter(isOpen), ...untracked].flatMap((path) => byPath.get(path) ?? [])
    : [];
  const loose = await findLooseAlready(user, candidates, signal);
  const already = new Set([...staged, ...loose]);
  const marked = await findMarkedFiles(user, files, signal);
  const isWritten = (path: ByteString) => written.has(path);
  return {
    tracked: inTheWay.filter((path) => !already.has(path)),
    dirty: entries.map(({ path }) => path),
    begun: [...stillBegun],
    untracked: [...untracked].filter((path) => !already.has(path) && !stillBegun.has(path)),
    hidden: [...marked.edited].filter((path) => byPath.has(path)),
    lostByStash: marked.assumedUnchanged.filter((path) => marked.edited.has(path)),
    already,
    alreadyUntracked: new Set([...untracked].filter((path) => already.has(path))),
    marks: {
      assumedUnchanged: marked.assumedUnchanged.filter(isWritten),
      skipped: marked.skipped.filter(isWritten),
    },
    leftOut: await findLeftOutFiles(user, steps, files),
  };
}

/** @param files records of `ls-files -v -z` */
async function findUntracked(
  user: UserRepository,
  written: ReadonlySet<ByteString>,
  removed: ReadonlySet<ByteString>,
  files: readonly string[],
): Promise<ReadonlySet<ByteString>> {
  const known = new Set(files.map((record) => record.slice(2)));
  const untracked = new Set<ByteString>();
  const view = new WorkTreeView(user.root);
  for (const path of written) {
    const blocking = await firstInTheWay(user.root, view, path, known, removed);
    if (blocking !== undefined) untracked.add(blocking);
  }
  return untracked;
}

export function* ancestorsOf(path: ByteString): Generator<ByteString, void, undefined> {
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) yield above;
}

/** What the work tree has where a file is to be written: nothing, something in the way above, or names with whether each is a directory. */
type Place =
  | { readonly type: 'absent' }
  | { readonly type: 'blocked'; readonly at: ByteString }
  | { readonly type: 'directory'; readonly entries: ReadonlyMap<ByteString, boolean> };

/** Looks at each directory of a work tree once, however many files of it are asked for. */
class WorkTreeView {
  readonly #root: string;
  readonly #places = new Map<ByteString, Place>();

  constructor(root: string) {
    this.#root = root;
  }

  async place(directory: ByteString): Promise<Place> {
    const known = this.#places.get(directory);
    if (known) return known;
    const place = await this.#look(directory);
    this.#places.set(directory, place);
    return place;
  }

  async #look(directory: ByteString): Promise<Place> {
    if (directory !== '') {
      const above = await this.place(parentOf(directory));
      if (above.type !== 'directory') return above;
      const isDirectory = above.entries.get(nameOf(directory));
      if (isDirectory === undefined) return { type: 'absent' };
      if (!isDirectory) return { type: 'blocked', at: directory };
    }
    const entries = await readdir(onDisk(this.#root, directory), { withFileTypes: true, encoding: 'buffer' });
    return {
      type: 'directory',
      entries: new Map(entries.map((entry) => [entry.name.toString('latin1'), entry.isDirectory()])),
    };
  }
}

/** Something git does not know at the path, above it or, when it is a directory, in it. */
async function firstInTheWay(
  root: string,
  view: WorkTreeView,
  path: ByteString,
  known: ReadonlySet<ByteString>,
  removed: ReadonlySet<ByteString>,
): Promise<ByteString | undefined> {
  const place = await view.place(parentOf(path));
  if (place.type === 'absent') return undefined;
  if (place.type === 'blocked') return removed.has(place.at) ? undefined : place.at;
  const isDirectory = place.entries.get(nameOf(path));
  if (isDirectory === undefined) return undefined;
  if (!isDirectory) return known.has(path) ? undefined : path;
  return firstUnknownIn(root, path, removed);
}

const nameOf = (path: ByteString) => path.slice(path.lastIndexOf('/') + 1);

async function firstUnknownIn(
  root: string,
  directory: ByteString,
  removed: ReadonlySet<ByteString>,
): Promise<ByteString | undefined> {
  const entries = await readdir(onDisk(root, directory), { withFileTypes: true, encoding: 'buffer' });
  for (const entry of entries) {
    const path = `${directory}/${entry.name.toString('latin1')}`;
    const unknown = entry.isDirectory()
      ? await firstUnknownIn(root, path, removed)
      : removed.has(path)
        ? undefined
        : path;
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
