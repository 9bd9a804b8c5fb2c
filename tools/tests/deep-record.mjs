import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sum } from './run-parts.mjs';
import { filesOf, projectsOf, ROOT } from './test-files.mjs';

const FILE = join(ROOT, 'docs/deep-tests.json');

/** @typedef {{ commit: string, date: string, seconds: number, passed: number, failed: number, seed: number, unstable: number }} DeepRow */

/** How each part of the deep tests ended last. @returns {Record<string, DeepRow>} */
export const readRecord = () => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {});

/** Writes down how a part ended, with the commit that it ran on. @param {import('./run-parts.mjs').PartResult} result */
export function record({ part, seconds, seed, results, unstable }, parts) {
  const row = {
    commit: headNow(),
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.round(seconds),
    passed: sum(results, 'passed'),
    failed: sum(results, 'failed'),
    seed,
    unstable: unstable.length,
  };
  const rows = { ...readRecord(), [part.name]: row };
  const kept = Object.fromEntries(parts.flatMap(({ name }) => (rows[name] ? [[name, rows[name]]] : [])));
  writeFileSync(FILE, `${JSON.stringify(kept, undefined, 2)}\n`);
}

/**
 * Why a part has to run again; nothing when it is green and what it tests is as it was.
 *
 * @param {import('./parts.mjs').Part} part
 * @param {DeepRow | undefined} row
 * @returns {string | undefined}
 */
export function staleness(part, row) {
  if (!row) return 'never ran';
  if (row.failed > 0) return 'red';
  if (!isKnown(row.commit)) return `ran on ${row.commit}, which is no commit here`;
  const changed = git('diff', '--name-only', row.commit, '--', ...sourcesOf(part))
    .split('\n')
    .filter(Boolean);
  return changed.length > 0 ? `${changed.length} files changed since ${row.commit}` : undefined;
}

/** How many commits ago a part ran; infinite where it never did. @param {DeepRow | undefined} row */
export const ageOf = (row) =>
  row && isKnown(row.commit) ? Number(git('rev-list', '--count', `${row.commit}..HEAD`)) : Number.POSITIVE_INFINITY;

/** Whether a part was green on one of the last `count` commits. */
export const isGreenWithin = (row, count) => row?.failed === 0 && ageOf(row) < count;

/** The commit of now. One with changes beside it is none that anybody can look at again, and is named so. */
function headNow() {
  const head = git('rev-parse', '--short=12', 'HEAD').trim();
  const written = [':!docs/deep-tests.json', ':!docs/projects.*']; // by parts themselves
  const changed = git('status', '--porcelain', '--', '.', ...written).trim();
  return changed ? `${head}-changed` : head;
}

function isKnown(commit) {
  try {
    git('merge-base', '--is-ancestor', commit, 'HEAD');
    return true;
  } catch {
    return false;
  }
}

/** What makes a part stale when it changes: the packages that its tests lie in, and the sources of all that those stand on. */
function sourcesOf(part) {
  if (part.command) return ['packages', 'tools'];
  const own = projectsOf(filesOf(part)).map((name) => (name === 'bench' ? name : `packages/${name}`));
  const found = new Set(own);
  for (const folder of found) {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
    );
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      const sibling = `packages/${name.replace('@litterbox/', '')}`;
      if (existsSync(join(ROOT, sibling, 'package.json'))) found.add(sibling);
    }
  }
  const below = [...found].filter((folder) => !own.includes(folder));
  return [...own, ...below.flatMap((folder) => [`${folder}/src`, `:!${folder}/src/**/*.test.ts`])];
}

const git = (...args) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
