import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Ours alone in a user's repository: objects that nothing names, the pin of each base, review branches and their logs. */
const OURS = ['.git/objects', '.git/refs/litterbox', '.git/refs/heads/litterbox', '.git/logs/refs/heads/litterbox'];

/** Every path of the user's repository with a hash of its type, mode and content. */
export function userDigest(repository: string): ReadonlyMap<string, string> {
  const digest = new Map<string, string>();
  const walk = (relative: string) => {
    if (OURS.includes(relative)) return;
    const path = join(repository, relative);
    const { mode } = lstatSync(path);
    const type = mode & 0o170000;
    if (type === 0o040000) {
      if (relative !== '') digest.set(`${relative}/`, mode.toString(8));
      for (const name of readdirSync(path)) walk(relative === '' ? name : `${relative}/${name}`);
      return;
    }
    const content = type === 0o120000 ? readlinkSync(path) : readFileSync(path);
    digest.set(relative, `${mode.toString(8)} ${createHash('sha256').update(content).digest('hex')}`);
  };
  walk('');
  return digest;
}

/** Paths that differ, sorted. */
export function digestDifference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}
