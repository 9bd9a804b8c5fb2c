import { type ObjectId } from '@litterbox/core/provider';
import { AGENTS_EMAIL } from '../objects/commit-object.ts';
import type { Store } from '../store/store.ts';
import { toLitterboxError } from '../git/to-litterbox-error.ts';
import type { UserRepository } from './user-repository.ts';

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/** Where a person names commits. What else git can name is put aside, taken back, or ours. */
const HOLDERS = ['--branches', '--tags', '--remotes'];
/** Without review branches, here and where they were pushed to: agents wrote what only those hold. */
const HOLDERS_OF_PERSON = ['--exclude=litterbox/*', '--branches', '--tags', '--exclude=*/litterbox/*', '--remotes'];
const REVIEW_BRANCHES = ['--branches=litterbox/*', '--remotes=*/litterbox/*'];
/** Commits that no branch holds, and that are looked at. */
const MAX_LOOSE = 1000;
const REVIEW_BRANCH = 'refs/heads/litterbox/';

/** Those of the commits that a branch, a tag or a remote branch holds. */
export async function heldCommits(
  user: UserRepository,
  commits: readonly ObjectId[],
  call: Call,
): Promise<readonly ObjectId[]> {
  return await heldBy(user, commits, HOLDERS, call);
}

/** Those of the commits that a branch, a tag or a remote branch of the person holds, review branches aside. */
export async function heldByPerson(
  user: UserRepository,
  commits: readonly ObjectId[],
  call: Call,
): Promise<readonly ObjectId[]> {
  return await heldBy(user, commits, HOLDERS_OF_PERSON, call);
}

export async function isHeldByPerson(user: UserRepository, commit: ObjectId, call: Call): Promise<boolean> {
  return (await heldByPerson(user, [commit], call)).length > 0;
}

/**
 * Whether the person made what HEAD is at. A review branch that is checked out follows the agent's milestones. A HEAD without a branch may
 * be at a commit of a person's that nothing else holds, as in the middle of a rebase: then nothing below it may be an agent's, down to
 * what a branch of the person holds.
 */
export async function isHeadOfPerson(
  user: UserRepository,
  headRef: string | undefined,
  commit: ObjectId,
  call: Call,
): Promise<boolean> {
  if (headRef?.startsWith('refs/heads/') && !headRef.startsWith(REVIEW_BRANCH)) return true;
  if (await isHeldByPerson(user, commit, call)) return true;
  return headRef === undefined && !(await standsOnAgents(user, commit, call));
}

/** Whether the person made a commit, or the work tree that it is made of, whatever HEAD is at by now. */
export async function isOfPerson(user: UserRepository, store: Store, commit: ObjectId, call: Call): Promise<boolean> {
  const { synthetic, parents } = await store.reader.commit(commit);
  const made = (synthetic ? parents[0] : undefined) ?? commit;
  return (await isHeldByPerson(user, made, call)) || !(await standsOnAgents(user, made, call));
}

/**
 * The commits below one, and itself, that no branch of the person holds, and those just below them that one does.
 *
 * @throws LitterboxError `REPO_CORRUPT` where they cannot be walked, as with a branch that leads nowhere
 */
export async function looseCommits(
  user: UserRepository,
  store: Store,
  commit: ObjectId,
  call: Call,
): Promise<{ readonly loose: readonly ObjectId[]; readonly below: readonly ObjectId[] }> {
  const { synthetic, parents } = await store.reader.commit(commit);
  const made = (synthetic ? parents[0] : undefined) ?? commit;
  const args = ['rev-list', '--boundary', made, '--not', ...HOLDERS_OF_PERSON];
  const output = await user.output(args, call).catch((error: unknown) => {
    throw toLitterboxError('tree.list', error, { ...call, gitCode: 'REPO_CORRUPT' });
  });
  const lines = output.toString().split('\n').filter(Boolean);
  const [below, loose] = [lines.filter((line) => line.startsWith('-')), lines.filter((line) => !line.startsWith('-'))];
  return { loose: loose as ObjectId[], below: below.map((line) => line.slice(1) as ObjectId) };
}

/** Also when the review branch is gone, or the agent's commit was amended, which keeps its author. True where it cannot be told. */
async function standsOnAgents(user: UserRepository, commit: ObjectId, call: Call): Promise<boolean> {
  const args = ['rev-list', `--max-count=${MAX_LOOSE}`, '--no-commit-header', '--format=%H %ae %ce', commit];
  const { code, stdout } = await user.run([...args, '--not', ...HOLDERS_OF_PERSON], call);
  const lines = stdout.toString().split('\n').filter(Boolean);
  if (code !== 0 || lines.length === MAX_LOOSE || lines.some((line) => line.includes(` ${AGENTS_EMAIL}`))) return true;
  const commits = lines.map((line) => line.split(' ', 1)[0] as ObjectId);
  return (await heldBy(user, commits, REVIEW_BRANCHES, call)).length > 0;
}

/** One walk, however many refs there are. A repository in which it cannot be walked holds nothing: what is asked for stays closed. */
async function heldBy(
  user: UserRepository,
  commits: readonly ObjectId[],
  holders: readonly string[],
  call: Call,
): Promise<readonly ObjectId[]> {
  if (commits.length === 0) return [];
  const one = commits.length === 1 ? ['--max-count=1'] : [];
  const { code, stdout } = await user.run(['rev-list', ...one, ...commits, '--not', ...holders], call);
  if (code !== 0) return [];
  const others = new Set(stdout.toString().split('\n'));
  return commits.filter((commit) => !others.has(commit));
}
