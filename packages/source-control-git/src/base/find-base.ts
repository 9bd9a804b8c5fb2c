import {
  type Asker,
  type Base,
  type BaseSource,
  type FoundBase,
  LitterboxError,
  type ObjectId,
  shown,
} from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import { commitFiles } from './commit-files.ts';
import { commitWorkTree } from './commit-work-tree.ts';
import { oneLine } from '../git/git-failure.ts';
import { isHeadOfPerson, isHeldByPerson } from '../person/held-commits.ts';
import { hasPromises, readPlainHead } from '../person/plain-head.ts';
import { resolveCommit } from '../person/resolve-commit.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OPERATION = 'sandbox.base';

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/** @param asker an agent gets no commit but what a branch, a tag or a remote branch holds */
export async function findBase(
  user: UserRepository,
  store: Store,
  source: BaseSource,
  asker: Asker,
  call: Call,
): Promise<FoundBase> {
  const plain = source.type === 'ref' ? undefined : await readPlainHead(user, store);
  const [headRef, whole] = plain
    ? [plain.headRef, plain]
    : await Promise.all([readHeadRef(user, call), source.type === 'ref' ? undefined : wholeHead(user, call)]);
  const head = headRef === undefined ? {} : { headRef };
  const { commit, tree } = whole ?? (await wholeCommit(user, source, headRef, asker, call));
  if (source.type === 'ref') return { commit, tree, ...head, isPersons: await isHeldByPerson(user, commit, call) };
  const isPersons = await isHeadOfPerson(user, headRef, commit, call);
  if (source.type === 'head') return { commit, tree, ...head, isPersons };
  if (source.type === 'files') return { ...(await commitFiles(store, { commit }, source.files)), ...head, isPersons };
  const made = await commitWorkTree(user, store, { commit, tree }, source.named ?? [], call);
  return { ...made, ...head, isPersons };
}

/** HEAD and its tree, asked for by one program; nothing where one is missing or may be missing in part. */
async function wholeHead(user: UserRepository, call: Call): Promise<Pick<Base, 'commit' | 'tree'> | undefined> {
  const asking = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const { code, stdout } = await user.plumbing.run(asking, { ...call, input: 'HEAD\nHEAD^{tree}\n' });
  const [, commit, tree] = /^([0-9a-f]+) commit\n([0-9a-f]+) tree\n$/.exec(stdout.toString()) ?? [];
  if (code !== 0 || hasPromises(user) || commit === undefined || tree === undefined) return undefined;
  return { commit: commit as ObjectId, tree: tree as ObjectId };
}

async function wholeCommit(
  user: UserRepository,
  source: BaseSource,
  headRef: string | undefined,
  asker: Asker,
  call: Call,
): Promise<Pick<Base, 'commit' | 'tree'>> {
  const commit = await (source.type === 'ref'
    ? resolveCommit(user, source.name, asker, call)
    : resolveHead(user, headRef, call));
  return { commit, tree: await requireObjects(user, commit, call) };
}

/** Full name of the branch HEAD is on; `undefined` when detached. */
export async function readHeadRef(user: UserRepository, call: Call): Promise<string | undefined> {
  const { code, stdout } = await user.run(['symbolic-ref', '-q', 'HEAD'], call);
  return code === 0 ? stdout.toString().trimEnd() : undefined;
}

/** @throws LitterboxError `UNBORN_HEAD`, `REPO_CORRUPT`. */
export async function resolveHead(
  user: UserRepository,
  headRef: string | undefined | Promise<string | undefined>,
  call: Call,
): Promise<ObjectId> {
  const { code, stdout, stderr } = await user.run(['rev-parse', '--verify', '-q', 'HEAD'], call);
  if (code === 0) return stdout.toString().trimEnd() as ObjectId;
  if ((await headRef) === undefined) {
    const reason = oneLine(stderr);
    throw new LitterboxError('REPO_CORRUPT', `HEAD of ${shown(user.root)} cannot be read. ${reason}`.trim(), {
      operation: OPERATION,
      hint: 'Look at it with git status.',
    });
  }
  throw new LitterboxError('UNBORN_HEAD', 'The branch has no commit yet.', {
    operation: OPERATION,
    hint: 'Make a first commit.',
  });
}

/** The commit's tree. @throws LitterboxError `OBJECT_MISSING` when a partial clone left out some of it. */
async function requireObjects(user: UserRepository, commit: ObjectId, call: Call): Promise<ObjectId> {
  const missing = (oid: string) =>
    new LitterboxError('OBJECT_MISSING', `The repository lacks the object ${oid} of ${commit}.`, {
      operation: OPERATION,
      hint: 'Run git fetch --unshallow, or git fetch --refetch --no-filter in a partial clone.',
      facts: { object: oid },
    });
  const named = await user.run(['rev-parse', '--verify', '-q', '--end-of-options', `${commit}^{tree}`], call);
  if (named.code !== 0) throw missing(commit);
  const tree = named.stdout.toString().trimEnd() as ObjectId;
  if ((await user.run(['cat-file', '-e', tree], call)).code !== 0) throw missing(tree);
  if (!hasPromises(user)) return tree;
  const listed = await user.text(['rev-list', '--objects', '--no-walk', '--missing=print', commit], call);
  const gap = /^\?([0-9a-f]+)/m.exec(listed)?.[1];
  if (gap !== undefined) throw missing(gap);
  return tree;
}

/** Changed and new files of the work tree. Runs none of the person's filters: only names are wanted. */
export async function listLeftOut(
  user: UserRepository,
  limit: number,
  call: Call,
): Promise<{ readonly paths: readonly string[]; readonly total: number }> {
  const off = await filtersOff(user, call);
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignore-submodules=all', '--no-renames'];
  const output = await user.output(args, { setting: 'user', environment: off, ...call });
  const paths: string[] = [];
  let total = 0;
  for (const record of output.toString('latin1').split('\0')) {
    // `1 XY sub mH mI mW hH hI path`, `u` with two fields more, `? path`.
    const fields = { '1': 8, u: 10, '?': 1 }[record[0] ?? ''];
    if (fields === undefined) continue;
    total++;
    if (paths.length < limit) paths.push(fromByteString(record.split(' ').slice(fields).join(' ')));
  }
  return { paths, total };
}

async function filtersOff(user: UserRepository, call: Call): Promise<Readonly<Record<string, string>>> {
  const pattern = '^filter\\..*\\.(clean|smudge|process|required)$';
  const found = await user.run(['config', '-z', '--name-only', '--get-regexp', pattern], { setting: 'user', ...call });
  const names = found.stdout.toString().split('\0').filter(Boolean);
  const environment: Record<string, string> = { GIT_CONFIG_COUNT: String(names.length) };
  for (const [index, name] of names.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = name;
    environment[`GIT_CONFIG_VALUE_${index}`] = name.endsWith('.required') ? 'false' : '';
  }
  return environment;
}
