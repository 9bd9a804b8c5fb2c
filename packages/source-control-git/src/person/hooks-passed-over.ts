import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { UserRepository } from './user-repository.ts';

/** Hooks that git runs when a person commits or merges. */
const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'pre-merge-commit', 'post-merge'];

/** Those hooks of the person's that would have run, had their own git made the commits. Litterbox runs none: a sandbox may have written one. */
export async function hooksPassedOver(
  user: UserRepository,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const directory = await hooksDirectory(user, signal);
  return HOOKS.filter((name) => isProgram(join(directory, name)));
}

async function hooksDirectory(user: UserRepository, signal: AbortSignal | undefined): Promise<string> {
  const args = ['config', '-z', '--show-scope', '--get-all', 'core.hooksPath'];
  const { stdout } = await user.run(args, { setting: 'user', signal });
  const fields = stdout.toString().split('\0');
  let configured: string | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) if (fields[at] !== 'command') configured = fields[at + 1]; // that one is ours
  if (configured === undefined) return join(user.commonDirectory, 'hooks');
  return resolve(user.root, configured.replace(/^~(?=\/)/, homedir()));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
