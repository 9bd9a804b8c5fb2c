import { decodeRaw } from '@litterbox/core/provider';
import type { FileTree } from './file-tree.ts';

/** Where the rules are. */
export const IGNORE_FILE = '.gitignore';

/**
 * Whether a rule of the tree's `.gitignore` names the path or a directory above it. Of git's rules these are the plain ones: a name, with a
 * star or a slash at its end perhaps. Whoever needs more tests the adapter of git.
 */
export function isIgnored(path: string, tree: FileTree): boolean {
  const file = tree.get(IGNORE_FILE);
  if (file?.type !== 'file') return false;
  const rules = decodeRaw(file.content)
    .split('\n')
    .map((line) => line.trim().replace(/\/$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'));
  const names = path.split('/');
  return rules.some((rule) => names.some((name) => patternOf(rule).test(name)));
}

const patternOf = (rule: string) =>
  new RegExp(`^${rule.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')}$`);
