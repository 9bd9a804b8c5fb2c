import { closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Base, ObjectId } from '@litterbox/core/provider';
import type { Store } from '../store/store.ts';
import type { UserRepository } from './user-repository.ts';

/** The text of `HEAD` while it is on a branch, as git writes it. git accepts more. */
const ON_BRANCH = /^ref: (refs\/heads\/[^\s\p{Cc}~^:?*[\\]+)\n$/u;
/** In a name, it makes git refuse that as a ref. */
const BAD_NAME = /\.\.|\/[./]|@\{|[./]$|\.lock(?:\/|$)/;
/** Settings of the repository with which refs may be elsewhere than in files, or objects elsewhere than here. */
const ELSEWHERE = /refstorage|partialclone|promisor/i;

/** Where files say what HEAD is. */
type Place = Pick<UserRepository, 'gitDirectory' | 'commonDirectory' | 'format'>;

/** The branch that HEAD is on and what its file says, which nobody has looked for; nothing where files do not say it as git writes it. */
export function readPlainBranch(user: Place): { readonly headRef: string; readonly commit: ObjectId } | undefined {
  try {
    if (ELSEWHERE.test(readFileSync(join(user.commonDirectory, 'config'), 'latin1'))) return undefined;
    const head = new TextDecoder('utf-8', { fatal: true }).decode(readOwn(join(user.gitDirectory, 'HEAD')));
    const [, headRef] = ON_BRANCH.exec(head) ?? [];
    if (headRef === undefined || BAD_NAME.test(headRef) || hasPromises(user)) return undefined;
    const commit = readPlainRef(user, headRef);
    return commit && { headRef, commit };
  } catch {
    return undefined; // git is asked, and fails in its own words
  }
}

/**
 * The branch that HEAD is on, its commit and its tree, read without git: starting it for these questions costs more than all else that is
 * done before a sandbox is made. Nothing where files do not say it in the one form that git writes; git is asked then, and says why.
 */
export async function readPlainHead(
  user: UserRepository,
  store: Store,
): Promise<(Pick<Base, 'commit' | 'tree'> & { readonly headRef: string }) | undefined> {
  const branch = readPlainBranch(user);
  if (!branch) return undefined;
  try {
    if ((await store.reader.read(branch.commit))?.type !== 'commit') return undefined;
    const { tree } = await store.reader.commit(branch.commit);
    return (await store.reader.read(tree))?.type === 'tree' ? { ...branch, tree } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is a partial clone, whose objects come when they are asked for. */
export function hasPromises({ commonDirectory }: Pick<UserRepository, 'commonDirectory'>): boolean {
  try {
    return readdirSync(join(commonDirectory, 'objects', 'pack')).some((name) => name.endsWith('.promisor'));
  } catch {
    return false; // there are no packs
  }
}

/** The line of a ref in `packed-refs`: its object id, and whatever is not understood. */
export function readPackedRef(user: Pick<UserRepository, 'commonDirectory'>, name: string): string | undefined {
  let packed: Buffer | undefined;
  try {
    packed = readFileSync(join(user.commonDirectory, 'packed-refs'));
  } catch (error) {
    ifAbsent(error);
  }
  const at = packed?.indexOf(` ${name}\n`) ?? -1;
  return packed && at >= 0 ? packed.toString('latin1', packed.lastIndexOf(10, at) + 1, at) : undefined;
}

/** As git looks for a ref: a file of its own before `packed-refs`. */
function readPlainRef(user: Place, name: string): ObjectId | undefined {
  const length = user.format.emptyTree.length;
  let oid: string | undefined;
  try {
    [, oid] = /^([0-9a-f]+)\n$/.exec(readOwn(join(user.commonDirectory, name)).toString('latin1')) ?? [];
  } catch (error) {
    ifAbsent(error);
    oid = readPackedRef(user, name);
  }
  return oid?.length === length && /^[0-9a-f]+$/.test(oid) ? (oid as ObjectId) : undefined;
}

/** A link is another way to write a symbolic ref. */
function readOwn(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** A directory may be where the file of a ref was. */
function ifAbsent(error: unknown): undefined {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
  throw error;
}
