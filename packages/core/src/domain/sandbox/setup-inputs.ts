import { isReadBySetups } from '../paths/known-files.ts';
import type { Policy } from './policy.ts';

/**
 * Tells which files of a base tree a setup reads, as far as that can be seen from outside: what tools read by themselves, and every
 * file that a word of the commands names or that lies below a directory so named. A word that names the whole workspace, such as
 * `.`, means all files. A manifest more costs a setup that need not have run; one too few gives a sandbox what another setup left.
 */
export function setupInputs({
  setup,
  workspaceGit,
}: Partial<Pick<Policy, 'workspaceGit'>> & Pick<Policy, 'setup'>): (path: string) => boolean {
  const named = new Set<string>();
  for (const word of setup.flat().flatMap((text) => text.split(/[\s;&|<>()`"'=,$:{}]+/))) {
    const path = plainPath(word);
    if (path !== undefined) named.add(path);
  }
  if (workspaceGit === 'throwaway' || named.has('')) return () => true;
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (isReadBySetups(name) || named.has(path)) return true;
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
      if (named.has(path.slice(0, cut))) return true;
    return false;
  };
}

/** The path below the workspace that a word may mean; empty for the workspace itself, `undefined` for none. */
function plainPath(word: string): string | undefined {
  if (word === '' || word.startsWith('/') || word.startsWith('-')) return undefined;
  const parts: string[] = [];
  for (const part of word.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '.' && part !== '..' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
