import type { ByteString } from '../git/byte-text.ts';
import { readAttributes } from './read-attributes.ts';
import { readUserConfig } from './user-config.ts';
import type { UserRepository } from './user-repository.ts';

/** A command that names its program alone, which is found in PATH: `git-lfs smudge -- %f`. */
const BARE_COMMAND = /^[\w.-]+(?: [\w%.-]+)*$/;
const FILTER_KEY = /^filter\.(.+)\.(?:clean|smudge|process)$/s;

/** The filters of the person's configuration whose programs may lie in the tree. However a shell spells the path, it is not guessed at. */
export async function readTreeFilters(
  user: UserRepository,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const [key, value] of await readUserConfig(user, '^filter\\..*\\.(clean|smudge|process)$', signal)) {
    const [, name] = FILTER_KEY.exec(key) ?? [];
    if (name !== undefined && !BARE_COMMAND.test(value)) found.add(name);
  }
  return found;
}

/** Those of the paths that go through one of the filters, each with its filter, by the attributes of an index or of the work tree. */
export async function filteredAmong(
  user: UserRepository,
  filters: ReadonlySet<string>,
  paths: readonly ByteString[],
  index: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ByteString, string>> {
  const found = new Map<ByteString, string>();
  if (filters.size === 0) return found;
  const options = {
    setting: 'user',
    isCached: index !== undefined,
    ...(index !== undefined && { environment: { GIT_INDEX_FILE: index } }),
    signal,
  } as const;
  for await (const { path, value } of readAttributes(user.plumbing, ['filter'], paths, options)) {
    const name = Buffer.from(value, 'latin1').toString();
    if (filters.has(name)) found.set(path, name);
  }
  return found;
}

/** Settings that take the filters out of force for one call. */
export const withoutFilters = (filters: ReadonlySet<string>): readonly string[] =>
  [...filters].flatMap((name) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((setting) => ['-c', `filter.${name}.${setting}`]),
  );
