import { type BaseDescription, type ObjectId } from '@litterbox/core/provider';
import { readHeadRef } from './find-base.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

interface Call {
  readonly signal?: AbortSignal | undefined;
}

const REVIEW_BRANCH = 'litterbox/';
/** All tags, annotated ones, and those that tools for versions look for. */
const QUESTIONS = [['--tags'], [], ['--tags', '--match', '*[0-9]*']] as const;

/** A base that is made of uncommitted changes stands for the commit below it, as git itself has it. */
export async function describeBase(
  user: UserRepository,
  store: Store,
  base: ObjectId,
  call: Call,
): Promise<BaseDescription> {
  const isTheirs = (await user.run(['cat-file', '-e', `${base}^{commit}`], call)).code === 0;
  const commit = isTheirs ? base : (await store.reader.commit(base)).parents[0];
  if (commit === undefined) return { tags: [] };
  const [branch, ...found] = await Promise.all([
    branchAt(user, commit, call),
    ...QUESTIONS.map((words) => nearestTag(user, words, commit, call)),
  ]);
  const tags = new Map(found.flatMap((tag) => (tag ? [[tag.name, tag] as const] : [])));
  return { ...(branch !== undefined && { branch }), tags: [...tags.values()] };
}

/** The branch that HEAD is on where that is at the commit, else one of the person's that is. */
async function branchAt(user: UserRepository, commit: ObjectId, call: Call): Promise<string | undefined> {
  const [headRef, head, listed] = await Promise.all([
    readHeadRef(user, call),
    user.run(['rev-parse', '--verify', '-q', 'HEAD'], call),
    user.run(['for-each-ref', `--points-at=${commit}`, '--format=%(refname)', 'refs/heads'], call),
  ]);
  const name = (ref: string) => ref.slice('refs/heads/'.length);
  if (head.stdout.toString().trim() === commit)
    return headRef?.startsWith('refs/heads/') === true ? name(headRef) : undefined;
  const branches = listed.stdout
    .toString()
    .split('\n')
    .filter((ref) => ref !== '')
    .map(name);
  return branches.find((branch) => !branch.startsWith(REVIEW_BRANCH));
}

async function nearestTag(
  user: UserRepository,
  words: readonly string[],
  commit: ObjectId,
  call: Call,
): Promise<BaseDescription['tags'][number] | undefined> {
  const { code, stdout } = await user.run(['describe', '--long', ...words, '--abbrev=40', commit], call);
  const [, name, distance] = /^(.+)-(\d+)-g[0-9a-f]+$/.exec(stdout.toString().trim()) ?? [];
  if (code !== 0 || name === undefined) return undefined;
  const { stdout: type } = await user.run(['cat-file', '-t', `refs/tags/${name}`], call);
  return { name, distance: Number(distance), isAnnotated: type.toString().trim() === 'tag' };
}
