import { type FileChange, foldedPath, type RiskyChange, visibleName, whatRunsLater } from '@litterbox/core/provider';
import { nearestAbove } from '../git/nearest-above.ts';

export interface RiskFacts {
  readonly change: FileChange;
  /** Octal mode and link target after the change. */
  readonly mode: string;
  readonly linkTarget?: string;
  readonly sizeBytes: number;
  readonly wasExecutable: boolean;
  /** False for a pointer of Git LFS that somebody wrote: what it stands for is in no history. */
  readonly isShown: boolean;
}

/** A file of more bytes hides more than a person reads. */
export const HUGE_BYTES = 1024 * 1024;

/** What is known of the trees besides the changes themselves. */
export interface RiskSetting {
  readonly changes: readonly FileChange[];
  /** Of the tree as it will be. */
  readonly allPaths: ReadonlySet<string>;
  /** Why a program of the person runs or reads a path: by what their configuration of git names, or a script of the tree. */
  readonly namedElsewhere: (path: string) => string | undefined;
  /** Whose added lines hold characters that nobody sees. */
  readonly withUnseen: ReadonlySet<string>;
}

/** One entry per path, with everything there is to say of it. */
export function riskyChanges(
  facts: Iterable<RiskFacts>,
  { changes, allPaths, namedElsewhere, withUnseen }: RiskSetting,
): readonly RiskyChange[] {
  const gitDirectories = gitLikeDirectories(allPaths);
  const gitDirectoryOf = nearestAbove(gitDirectories);
  const twins = twinsOf(allPaths);
  const hidden = newHiddenNames(changes, allPaths);
  const found: RiskyChange[] = [];
  for (const { change, mode, linkTarget, sizeBytes, wasExecutable, isShown } of facts) {
    const { path, status } = change;
    const reasons = new Set(whatRunsLater(path));
    const elsewhere = namedElsewhere(path);
    if (elsewhere !== undefined) reasons.add(elsewhere);
    if (status !== 'deleted') {
      const newest = hidden.get(path);
      const isHarmless = HARMLESS.test(path) || (change.addedLines === 0 && PLACEHOLDER.test(path));
      if (newest !== undefined && !isHarmless)
        reasons.add(newest === path ? 'is a new hidden file' : 'lies in a new hidden directory');
      else if (reasons.size === 0 && HIDDEN.test(path) && !isHarmless)
        reasons.add(HIDDEN_FILE.test(path) ? 'is a hidden file' : 'lies in a hidden directory');
      if (mode === '120000') reasons.add(linkReason(path, linkTarget ?? ''));
      if (mode === '160000') reasons.add('is a submodule');
      if (change.executable && !wasExecutable) reasons.add('becomes executable');
      if (!isShown) reasons.add(`stands for ${sizeBytes} bytes of Git LFS that a diff does not show`);
      if (sizeBytes > HUGE_BYTES) reasons.add('is larger than 1 MiB');
      if (change.binary && mode !== '120000') reasons.add('is binary: a diff does not show what it holds');
      if (withUnseen.has(path))
        reasons.add(
          'holds what nobody sees: invisible or reordering characters, terminal codes, text behind hundreds of blanks, or lines that go back over themselves',
        );
      if (twins.has(path)) reasons.add('differs from another name by case or Unicode form only');
      if (visibleName(path, Number.POSITIVE_INFINITY) !== path) {
        reasons.add('has invisible or control characters in its name');
      }
      if (gitDirectories.size > 0 && gitDirectoryOf(foldedPath(path)) !== undefined)
        reasons.add('lies in a directory that git takes for a repository');
    } else if (reasons.size === 0) continue;
    if (reasons.size > 0) found.push({ path, reasons: [...reasons] });
  }
  return found;
}

/** Tools learn new names faster than any list: a change of a hidden path is named, whatever it is called. */
const HIDDEN = /(^|\/)\./;
const HIDDEN_FILE = /(^|\/)\.[^/]*$/;
/** What no tool runs, nor takes a program or a place from, below no other hidden name. */
const HARMLESS =
  /^(?:[^./][^/]*\/)*(?:\.(?:editorconfig|mailmap|nojekyll|npmignore|prettierignore|eslintignore|stylelintignore|markdownlintignore|hgignore)|\.changeset\/[^/]+\.md)$/;

/** Keeps a directory that would be empty; as long as it is empty itself, no tool finds anything in it. */
const PLACEHOLDER = /(^|\/)\.(git)?keep$/;
/** A path of hidden names alone has two thousand of them. */
const MAX_HIDDEN_NAMES = 16;

/**
 * Added paths with the outermost hidden name on their way that nothing was below before. Tools learn new ones faster than any list, and
 * look for them in every directory.
 */
function newHiddenNames(changes: readonly FileChange[], allPaths: ReadonlySet<string>): ReadonlyMap<string, string> {
  const added = new Map<string, readonly string[]>();
  for (const { status, path } of changes) if (status === 'added') added.set(path, hiddenNamesOf(path));
  const fresh = new Set([...added.values()].flat());
  if (fresh.size === 0) return new Map();
  const forget = (path: string) => {
    for (const name of hiddenNamesOf(path)) fresh.delete(name);
  };
  for (const path of allPaths) if (!added.has(path)) forget(path);
  for (const { status, path } of changes) if (status !== 'added') forget(path);
  const found = new Map<string, string>();
  for (const [path, names] of added) {
    const newest = names.find((name) => fresh.has(name));
    if (newest !== undefined) found.set(path, newest);
  }
  return found;
}

/** The path up to each name on it that begins with a dot, the outermost first. */
function hiddenNamesOf(path: string): readonly string[] {
  const names: string[] = [];
  for (
    let at = path.startsWith('.') ? 0 : path.indexOf('/.') + 1;
    path[at] === '.' && names.length < MAX_HIDDEN_NAMES;
  ) {
    const end = path.indexOf('/', at);
    names.push(end < 0 ? path : path.slice(0, end));
    const next = path.indexOf('/.', at);
    if (next < 0) break;
    at = next + 1;
  }
  return names;
}

function linkReason(path: string, target: string): string {
  if (target.startsWith('/')) return 'is a symbolic link to an absolute path';
  let depth = path.split('/').length - 1;
  for (const name of target.split('/')) {
    if (name === '..') depth--;
    else if (name !== '' && name !== '.') depth++;
    if (depth < 0) return 'is a symbolic link out of the repository';
  }
  return 'is a symbolic link';
}

/**
 * A bare repository needs no `.git`: HEAD, objects and refs are enough, and its config may run programs. With a `commondir`,
 * all but HEAD may lie elsewhere. On file systems that ignore case git finds them in any.
 */
function gitLikeDirectories(paths: ReadonlySet<string>): ReadonlyMap<string, ReadonlySet<string>> {
  const marks = new Map<string, Set<string>>();
  for (const path of paths) {
    const [, directory = '', name = ''] = /^(.+)\/(head|config|commondir)$/.exec(foldedPath(path)) ?? [];
    if (directory !== '') marks.set(directory, (marks.get(directory) ?? new Set()).add(name));
  }
  return new Map([...marks].filter(([, names]) => names.has('head') && names.size > 1));
}

function twinsOf(paths: ReadonlySet<string>): ReadonlySet<string> {
  const firsts = new Map<string, string>();
  const twins = new Set<string>();
  for (const path of paths) {
    const folded = foldedPath(path);
    const first = firsts.get(folded);
    if (first === undefined) firsts.set(folded, path);
    else twins.add(first).add(path);
  }
  return twins;
}
