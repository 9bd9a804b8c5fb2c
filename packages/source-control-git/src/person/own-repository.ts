import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KernelLock } from '../git/kernel-lock.ts';
import type { GitRunner } from '../git/run-git.ts';

/** Author and time of its one commit, which is the same everywhere. */
const IDENTITY = { NAME: 'Litterbox', EMAIL: 'litterbox@localhost', DATE: '@0 +0000' };

/** Where the repository of sandboxes without one is, beside git's home. */
export const ownRoot = (git: GitRunner): string => join(dirname(git.home), 'own-repository');

/** Makes that repository where it is not there: a work tree with nothing in it, and an empty commit. */
export async function makeOwnRepository(git: GitRunner, signal?: AbortSignal): Promise<string> {
  const root = ownRoot(git);
  if (await isThere(root)) return root;
  await mkdir(git.home, { recursive: true, mode: 0o700 });
  const lock = new KernelLock(`${root}.lock`);
  try {
    await lock.hold(
      'repository.open',
      async () => {
        if (!(await isThere(root))) await make(git, root, signal); // another process may have been faster
      },
      { signal },
    );
  } finally {
    lock.close();
  }
  return root;
}

/** At its name last: a killed process leaves what the next one begins with removing. */
async function make(git: GitRunner, root: string, signal: AbortSignal | undefined): Promise<void> {
  const half = `${root}.new`;
  await rm(half, { recursive: true, force: true });
  await mkdir(half, { mode: 0o700 });
  const environment = Object.fromEntries(
    Object.entries(IDENTITY).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  );
  const call = { setting: 'sealed', cwd: half, environment, signal } as const;
  const text = async (...args: readonly string[]) =>
    (await git.output({ ...call, args, input: '' })).toString().trimEnd();
  await text('init', '-q', '--template=', '-b', 'main', '.');
  const tree = await text('mktree');
  await text('update-ref', 'refs/heads/main', await text('commit-tree', tree, '-m', 'Nothing'));
  await rename(half, root);
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined;
