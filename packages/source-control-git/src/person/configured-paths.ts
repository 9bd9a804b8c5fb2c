import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { foldedPath, visibleName } from '@litterbox/core/provider';
import { nearestAbove } from '../git/nearest-above.ts';
import type { UserRepository } from './user-repository.ts';

/** What of the work tree the person's own git configuration names: programs that their git runs, and files that it reads. */
export interface ConfiguredPaths {
  /** Why a path of the tree is one of them; `undefined` for the others. */
  reasonOf(path: string): string | undefined;
  /** The filters, such as `lfs`, one of whose programs is among the paths. */
  filtersAmong(paths: Iterable<string>): readonly string[];
}

interface Entry {
  /** Of the configuration, with the section and the name in lower case. */
  readonly key: string;
  readonly reason: string;
}

const INCLUDED = 'is part of the configuration of your git';
const HOOKS = 'defines hooks that git runs';
/** Words of their values are arguments of programs: a bare one may be a file too. */
const RUNS_PROGRAMS =
  /^(alias|core|credential|diff|difftool|filter|gpg|hook|interactive|merge|mergetool|pager|sequence|ssh|tar|trailer)\./;
const OF_FILTERS = /^filter\.(.+)\.(?:clean|smudge|process)$/s;
const INCLUDES = /^include(?:if\..*)?\.path$/s;
const BETWEEN_WORDS = /[\s;&|<>()`"'=,{}!:\\]+/;

/** Reads the configuration as the person's git finds it, and where each line of it stands. Runs nothing that it names. */
export async function readConfiguredPaths(
  user: UserRepository,
  signal: AbortSignal | undefined,
): Promise<ConfiguredPaths> {
  const output = await user.output(['config', '--list', '-z', '--show-origin'], { setting: 'user', signal });
  return configuredPaths(user.root, output.toString().split('\0'));
}

/** @param fields origin and `key\nvalue`, in turn */
export function configuredPaths(root: string, fields: readonly string[]): ConfiguredPaths {
  /** By the path as file systems fold it. Of a directory, everything below is meant. */
  const named = new Map<string, Entry>();
  const directories = new Map<string, Entry>();
  const filters = new Map<string, Set<string>>();
  /** Words that a shell expands: what they stand for is not known, so every path is meant that they can stand for. */
  const patterns: { readonly pattern: RegExp; readonly entry: Entry }[] = [];
  const add = (absolute: string, entry: Entry, isDirectory: boolean) => {
    for (const path of [absolute, realOf(absolute)]) {
      const inside = relative(root, path);
      if (inside === '..' || inside.startsWith('../') || (inside === '' && entry.reason !== HOOKS)) continue;
      const folded = foldedPath(inside);
      if (!named.has(folded)) named.set(folded, entry);
      if (isDirectory && !directories.has(folded)) directories.set(folded, entry);
      const [, filter] = OF_FILTERS.exec(entry.key) ?? [];
      if (filter !== undefined) filters.set(filter, (filters.get(filter) ?? new Set()).add(folded));
    }
  };
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [origin = '', line = ''] = [fields[at], fields[at + 1]];
    if (!origin.startsWith('file:')) continue; // what we say ourselves
    const file = resolve(root, origin.slice('file:'.length));
    add(file, { key: '', reason: INCLUDED }, false);
    const newline = line.indexOf('\n');
    if (newline < 0) continue;
    const [key, value] = [line.slice(0, newline), line.slice(newline + 1)];
    if (INCLUDES.test(key)) add(resolve(dirname(file), atHome(value)), { key, reason: INCLUDED }, false);
    else if (key === 'core.hookspath') add(resolve(root, atHome(value)), { key, reason: HOOKS }, true);
    else {
      const entry = { key, reason: `is run or read by your git (${visibleName(key, 60)})` };
      for (const word of [value, ...value.split(BETWEEN_WORDS)].map(atHome)) {
        const pattern = RUNS_PROGRAMS.test(key) ? expandedPattern(word) : undefined;
        if (pattern) patterns.push({ pattern, entry });
        const hasDirectory = word.replace(/\/+$/, '').includes('/');
        if (!hasDirectory && !(word !== '' && RUNS_PROGRAMS.test(key))) continue;
        add(resolve(root, word), entry, hasDirectory);
        // Behind a command substitution or a variable that says where the repository is.
        if (word.startsWith('/')) add(join(root, word), entry, hasDirectory);
      }
    }
  }
  const directoryAbove = nearestAbove(directories);
  const entryOf = (path: string) => {
    const folded = foldedPath(path);
    const found = named.get(folded) ?? directories.get('') ?? directoryAbove(folded);
    if (found) return found;
    return patterns.find(({ pattern }) => pattern.test(folded))?.entry;
  };
  return {
    reasonOf: (path) => entryOf(path)?.reason,
    filtersAmong(paths) {
      const changed = Array.from(paths, foldedPath);
      const byPattern = patterns.flatMap(({ pattern, entry }) => {
        const [, filter] = OF_FILTERS.exec(entry.key) ?? [];
        return filter !== undefined && changed.some((path) => pattern.test(path)) ? [filter] : [];
      });
      const byName = [...filters].flatMap(([name, programs]) => {
        const isChanged = changed.some((path) =>
          [...programs].some((program) => path === program || path.startsWith(`${program}/`)),
        );
        return isChanged ? [name] : [];
      });
      return [...new Set([...byName, ...byPattern])];
    },
  };
}

/** A variable, or what a shell puts names of files in for. */
const EXPANDED = /\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?])|\*+|\?|\[[^\]]*\]/;

const LEADING = new RegExp(`^(?:(?:${EXPANDED.source}|\\.)?/)+`);

/**
 * The paths, as file systems fold them, that a word of a command can stand for: anywhere in the tree, since the command may go to another
 * directory first. Nothing for a word that the shell takes as it is, and for one of which nothing is left to go by.
 */
function expandedPattern(word: string): RegExp | undefined {
  if (!EXPANDED.test(word) || !/[./]/.test(word)) return undefined;
  const parts = foldedPath(word.replace(LEADING, '')).split(EXPANDED);
  if (!parts.some((part) => /[a-z0-9]/i.test(part))) return undefined;
  const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`^(?:.*\\/)?${parts.map(literal).join('.*')}(?:\\/.*)?$`, 's');
}

/** `~` and `$HOME` as git and a shell take them. */
function atHome(text: string): string {
  return text.replace(/^~(?=\/)|\$HOME(?![A-Za-z0-9_])|\$\{HOME\}?/, homedir());
}

/** Without links in what is there of it. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), basename(path));
  }
}
