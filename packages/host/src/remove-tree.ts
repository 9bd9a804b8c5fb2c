import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { chmod, lstat, open, readdir, rm, unlink } from 'node:fs/promises';
import { constants } from 'node:fs';
import { encodeRaw } from '@litterbox/core/provider';
import { programDirectories } from './program-directories.ts';

const errnoOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/**
 * Removes whatever is there, by `rm` where it is a directory: an agent can nest directories deeper than any path reaches, which
 * Node's own removal fails on, and that of many files would hold all their names. Links are unlinked, never followed.
 *
 * A tree may hold directories without write permission (an agent's, or Go's module cache): of ours, they are given back their bits.
 *
 * @throws the failure of the system call, as Node tells it
 */
export async function removeTree(path: string): Promise<void> {
  const bytes = Buffer.from(encodeRaw(path));
  const found = await lstat(bytes).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!found) return;
  if (!found.isDirectory()) {
    await unlink(bytes).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
    });
    return;
  }
  if (await removedByProgram(path)) return;
  await unlockDirectories(bytes).catch((error: unknown) => {
    if (errnoOf(error) !== 'ENAMETOOLONG') throw error;
  });
  if (await removedByProgram(path)) return;
  await rm(bytes, { recursive: true, force: true }); // says why, or removes what has a name that no argument can hold
}

function removedByProgram(path: string): Promise<boolean> {
  if (!path.isWellFormed()) return Promise.resolve(false);
  return new Promise((resolve) => {
    const env = { PATH: programDirectories({ besides: undefined, repository: undefined }).join(':') };
    const child = spawn('rm', ['-rf', '--', path], { stdio: 'ignore', cwd: '/', env });
    child.once('error', () => resolve(false)); // a machine without it
    child.once('close', (code) => resolve(code === 0));
  });
}

async function unlockDirectories(path: Buffer): Promise<void> {
  // O_NOFOLLOW and fchmod: the directory cannot be swapped for a link between the look and the change.
  // A directory without read permission cannot be opened at all but for its path alone; it is then removed empty.
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isDirectory()) return;
  await using directory = await open(path, flags).catch(async (error) => {
    if (errnoOf(error) !== 'EACCES') throw error;
    await chmod(path, 0o700);
    return open(path, flags);
  });
  await directory.chmod(0o700);
  for (const entry of await readdir(path, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await unlockDirectories(Buffer.concat([path, Buffer.from('/'), entry.name]));
  }
}
