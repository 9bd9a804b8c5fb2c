import type { Description } from '@litterbox/sandbox-kit';

/** What was read of a description: an object of that version, with whatever members. */
export type ReadDescription = Description & Readonly<Record<string, unknown>>;

/** A name of a directory of ours, such as that of a playground that several sandboxes share. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether a description has the part that every sandbox with a directory has. The machine that it was read on may have written anything. */
export function isDirectoryDescription({
  slug,
  repositoryId,
  workdir,
  environment,
  limits,
  playground,
  allowDegraded,
}: ReadDescription): boolean {
  return (
    [slug, repositoryId].every((text) => typeof text === 'string') &&
    isAbsolutePath(workdir) &&
    isObjectOf(environment, (text) => typeof text === 'string') &&
    isObjectOf(limits, (limit) => typeof limit === 'number' && limit > 0) &&
    typeof playground === 'string' &&
    NAME.test(playground) &&
    typeof allowDegraded === 'boolean'
  );
}

/** An absolute path whose parts are names. */
export function isAbsolutePath(path: unknown): path is string {
  return typeof path === 'string' && path.startsWith('/') && !path.includes('\0') && !/\/\.{0,2}(\/|$)/.test(path);
}

/** Whether a value is an object all of whose members are of a kind. */
export function isObjectOf(value: unknown, isMember: (member: unknown) => boolean): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isMember);
}
