import { type ObjectId } from '@litterbox/core/provider';
import { GitFailure } from '../git/git-failure.ts';
import type { UserRepository } from './user-repository.ts';

/** Everything uncommitted in tracked files, as a commit of git's own stash that no ref names yet. */
export async function createStash(user: UserRepository, message: string): Promise<ObjectId | undefined> {
  const args = ['stash', 'create', message];
  const { code, stdout, stderr } = await user.plumbing.run(args, { setting: 'user' });
  const oid = stdout.toString().trimEnd();
  // Silent failure is git's word for files whose times changed and whose contents did not.
  if (code !== 0 && (oid !== '' || stderr !== '')) throw new GitFailure(args, code, stderr);
  return oid === '' ? undefined : (oid as ObjectId);
}
