import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { repositoryRoot } from './repository-root.ts';

/** The other way: a path from the top of their repository, as the person types it in a directory of it. Words in capitals stand for paths. */
export function toHere(directory: string, path: string): string {
  const here = existsSync(directory) ? realpathSync(directory) : directory;
  const top = repositoryRoot(here);
  return top === undefined || path === 'PATHS' ? path : relative(here, join(top, path)) || '.';
}

/** A path as the person gave it in a directory of their repository, as git takes it there, relative to the top. Outside it begins with `..`. */
export function fromHere(directory: string, path: string): string {
  const here = existsSync(directory) ? realpathSync(directory) : directory;
  const top = repositoryRoot(here);
  if (top === undefined || path === '') return path; // who looks for the repository says more
  const parent = dirname(path);
  const real =
    isAbsolute(path) && existsSync(parent) ? join(realpathSync(parent), basename(path)) : resolve(here, path);
  return relative(top, real) || '.';
}
