import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from './history.ts';

type Files = Readonly<Record<string, string>>;

/** The histories of all sandboxes that were, removed ones too, as the store tells them. `paths` says which files count. */
export function readChains(stateDirectory: string, paths: RegExp): readonly Chain[] {
  const repos = join(stateDirectory, 'repos');
  return readdirSync(repos)
    .map((name) => join(repos, name, 'store.git'))
    .filter((store) => existsSync(store))
    .flatMap((store) => chainsOf(store, paths));
}

/** Contents of all files of all commits of the branch. */
export function readMerged(repository: string): ReadonlySet<string> {
  const git = gitIn(['-C', repository]);
  const objects = git('rev-list', '--objects', 'HEAD')
    .split('\n')
    .map((line) => line.slice(0, line.indexOf(' ')));
  return new Set(
    contentsOf(
      ['-C', repository],
      objects.filter((oid) => oid !== ''),
    ).values(),
  );
}

function chainsOf(store: string, paths: RegExp): readonly Chain[] {
  const git = gitIn(['--git-dir', store]);
  const refs = git('for-each-ref', '--format=%(refname) %(objectname) %(parent)', 'refs/litterbox').split('\n');
  const tips = refs.flatMap((line): readonly (readonly [id: string, tip: string])[] => {
    const [name = '', oid = '', parent = ''] = line.split(' ');
    const [, , first = '', second = ''] = name.split('/');
    if (first === 'tombstones') return [[second, parent]];
    return second === 'tip' ? [[first, oid]] : [];
  });
  // A sandbox whose removal is under way has both.
  return [...new Map(tips)].map(([id, tip]) => chainOf(store, id, tip, paths));
}

function chainOf(store: string, id: string, tip: string, paths: RegExp): Chain {
  const git = gitIn(['--git-dir', store]);
  const found: { commit: string; number: number; parent: string }[] = [];
  for (const text of git('rev-list', '--first-parent', '--format=raw', tip).split(/^(?=commit )/m)) {
    const [, commit = ''] = /^commit ([0-9a-f]+)/.exec(text) ?? [];
    const [, number] = /^litterbox revision=(\d+) /m.exec(text) ?? [];
    if (number === undefined) break; // the base, made by the user
    found.unshift({ commit, number: Number(number), parent: /^parent ([0-9a-f]+)$/m.exec(text)?.[1] ?? '' });
  }
  const trees = new Map<string, ReadonlyMap<string, string>>();
  const base = found[0]?.parent ?? tip;
  for (const commit of [base, ...found.map((one) => one.commit)]) {
    const lines = git('ls-tree', '-r', commit).split('\n').filter(Boolean);
    const entries = lines.map((line) => /^\d+ blob ([0-9a-f]+)\t(.+)$/.exec(line)).filter((match) => match !== null);
    trees.set(
      commit,
      new Map(entries.filter(([, , path = '']) => paths.test(path)).map(([, oid = '', path = '']) => [path, oid])),
    );
  }
  const contents = contentsOf(
    ['--git-dir', store],
    [...new Set([...trees.values()].flatMap((tree) => [...tree.values()]))],
  );
  const filesOf = (commit: string): Files =>
    Object.fromEntries([...(trees.get(commit) ?? [])].map(([path, oid]) => [path, contents.get(oid) ?? '']));
  return {
    id,
    base: filesOf(base),
    revisions: found.map(({ commit, number }) => ({ commit, number, files: filesOf(commit) })),
  };
}

function gitIn(where: readonly string[]) {
  return (...args: readonly string[]) =>
    execFileSync('git', [...where, ...args], { encoding: 'utf8', maxBuffer: 2 ** 28 });
}

function contentsOf(where: readonly string[], oids: readonly string[]): ReadonlyMap<string, string> {
  if (oids.length === 0) return new Map();
  const output = execFileSync('git', [...where, 'cat-file', '--batch'], {
    input: `${oids.join('\n')}\n`,
    maxBuffer: 2 ** 28,
    encoding: 'latin1',
  });
  const contents = new Map<string, string>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const [oid = '', type = '', size = '0'] = output.slice(at, end).split(' ');
    if (type === 'blob') contents.set(oid, output.slice(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return contents;
}
