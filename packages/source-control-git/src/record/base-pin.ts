import { existsSync, linkSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failpoint, type ObjectId, type SandboxId } from '@litterbox/core/provider';
import { temporaryName } from '../git/durable-files.ts';
import { readPackedRef } from '../person/plain-head.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { pinRef } from '../store/sandbox-refs.ts';

/** Settings with which refs may be elsewhere than in files, or others have to be able to write them. */
const SPECIAL = /refstorage|sharedrepository|worktreeconfig|^\s*\[include/im;

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keeps the base from the garbage collection of the person's repository by a ref, which is a file of its own where refs are files: nobody
 * else writes refs of ours, so that a file that gets its name once it is whole needs no lock, and a killed process leaves none. git writes
 * it where anything is otherwise, and fails in its own words.
 */
export async function writePin(user: UserRepository, id: SandboxId, commit: ObjectId, call: Call): Promise<void> {
  call.signal?.throwIfAborted();
  if (!hasPlainRefs(user) || !(await writeFileOnce(user, pinRef(id), commit)))
    await user.output(['update-ref', pinRef(id), commit], call);
}

/** Repeatable. */
export async function removePin(user: UserRepository, id: SandboxId, call: Call): Promise<void> {
  call.signal?.throwIfAborted();
  if (!hasPlainRefs(user) || !(await removeFile(user, pinRef(id))))
    await user.output(['update-ref', '-d', pinRef(id)], call);
}

function hasPlainRefs({ commonDirectory }: UserRepository): boolean {
  try {
    return !SPECIAL.test(readFileSync(join(commonDirectory, 'config'), 'latin1'));
  } catch {
    return false; // git says what is wrong with it
  }
}

/** @returns false where it is there, or cannot be written in this way */
async function writeFileOnce({ commonDirectory }: UserRepository, name: string, commit: ObjectId): Promise<boolean> {
  const path = join(commonDirectory, name);
  if (existsSync(`${path}.lock`)) return false;
  const temporary = join(commonDirectory, temporaryName()); // where a reconcile looks for what is left
  try {
    const file = await open(temporary, 'wx', 0o666);
    try {
      await file.writeFile(`${commit}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    failpoint('pin.before-name');
    mkdirSync(dirname(path), { recursive: true });
    linkSync(temporary, path);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** @returns false where git may have put it into `packed-refs` too, keeps a log of it, or works on it */
async function removeFile(user: UserRepository, name: string): Promise<boolean> {
  const path = join(user.commonDirectory, name);
  const isInUse = existsSync(`${path}.lock`) || existsSync(join(user.commonDirectory, 'logs', name));
  if (isInUse && existsSync(path)) return false;
  try {
    rmSync(path, { force: true });
    // Afterwards: who packs refs holds the lock before it reads the file, and until what it read is in place.
    if (existsSync(join(user.commonDirectory, 'packed-refs.lock'))) return false;
    if (readPackedRef(user, name) !== undefined) return false;
  } catch {
    return false;
  }
  try {
    rmdirSync(dirname(path)); // as git does
  } catch {
    // Others are in it, or it has gone.
  }
  return true;
}
