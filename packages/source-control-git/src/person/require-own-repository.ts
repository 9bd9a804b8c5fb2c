import { stat } from 'node:fs/promises';
import { LitterboxError, shown } from '@litterbox/core/provider';
import type { UserRepository } from './user-repository.ts';

/**
 * Refuses to write as root into a repository of somebody else, which git does once it may read it. Directories of objects,
 * refs and the work tree that root made there would be closed to their owner: their next commit would fail.
 *
 * @throws LitterboxError `REPO_OWNER`.
 */
export async function requireOwnRepository({ root, commonDirectory }: UserRepository): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = await stat(commonDirectory);
  if (uid === 0) return;
  throw new LitterboxError('REPO_OWNER', `The repository ${shown(root)} belongs to user ${uid}, and you are root.`, {
    operation: 'repository.write',
    hint: `Run as its owner: what root writes there user ${uid} could not change. Where root alone uses it, as in a container, make it root's: chown -R 0:0 DIRECTORY (it is ${uid}:${gid} now).`,
  });
}
