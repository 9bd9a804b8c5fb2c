import { type Asker, LitterboxError, type LitterboxErrorCode, type ObjectId, shown } from '@litterbox/core/provider';
import { heldCommits } from './held-commits.ts';
import type { UserRepository } from './user-repository.ts';

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/** What git takes for one commit: a name, then steps to ancestors or to what a tag names. */
const ONE_COMMIT = /^[^\s\p{Cc}:?*[\\^~-][^\s\p{Cc}:?*[\\^~]*(?:~\d*|\^\d*|\^\{(?:commit|tag)?\})*$/u;

/**
 * The one commit that a name names, for an agent among those that a branch, a tag or a remote branch holds.
 *
 * @throws LitterboxError `REV_INVALID`, `REV_NOT_FOUND`, `REV_NOT_COMMIT`, `REV_AMBIGUOUS`.
 */
export async function resolveCommit(user: UserRepository, name: string, asker: Asker, call: Call): Promise<ObjectId> {
  if (!ONE_COMMIT.test(name) || name.includes('..') || name.includes('@{')) {
    throw refused(name, 'REV_INVALID', 'does not name one commit', 'Give a branch, a tag or a commit id.');
  }
  return await (asker === 'agent' ? resolveHeld(user, name, call) : resolveAny(user, name, call));
}

async function resolveAny(user: UserRepository, name: string, call: Call): Promise<ObjectId> {
  const asCommit = await user.run(['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`], call);
  if (asCommit.code === 0) return asCommit.stdout.toString().trimEnd() as ObjectId;
  if (/^[0-9a-f]{4,}$/i.test(name)) {
    const candidates = await user.text(['rev-parse', `--disambiguate=${name}`], call);
    if (candidates.includes('\n')) {
      throw ambiguous(name);
    }
  }
  const asAnything = await user.run(['rev-parse', '--verify', '-q', '--end-of-options', name], call);
  const found = asAnything.stdout.toString().trimEnd();
  if (asAnything.code === 0 && (await user.run(['cat-file', '-e', found], call)).code === 0) {
    throw notCommit(name);
  }
  throw refused(
    name,
    'REV_NOT_FOUND',
    'is not a branch, tag or commit of this repository',
    'List branches with git branch --all.',
  );
}

/** What is there and not for an agent is told as what is not there: else answers tell digit by digit which objects there are. */
async function resolveHeld(user: UserRepository, name: string, call: Call): Promise<ObjectId> {
  const [, start = '', steps = ''] = /^([^~^]+)(.*)$/.exec(name) ?? [];
  if (start === 'HEAD' || start === '@') {
    const commit = await commitAt(user, `HEAD${steps}`, call);
    if (commit === undefined || (await heldCommits(user, [commit], call)).length === 0) throw notHeld(name);
    return commit;
  }
  const ref = await findRef(user, start, call);
  const [first, other] = ref === undefined ? await heldBeginningWith(user, start, call) : [ref];
  if (other !== undefined) throw ambiguous(name);
  const commit = first === undefined ? undefined : await commitAt(user, `${first}${steps}`, call);
  if (commit === undefined) throw ref !== undefined && steps === '' ? notCommit(name) : notHeld(name);
  return commit;
}

/** The branch, tag or remote branch that a name means, in git's order; where a name means something else to git first, that is passed over. */
async function findRef(user: UserRepository, name: string, call: Call): Promise<string | undefined> {
  const whole = [name, `refs/${name}`].filter((ref) => /^refs\/(?:heads|tags|remotes)\//.test(ref));
  const within = ['refs/tags/', 'refs/heads/', 'refs/remotes/'].map((above) => `${above}${name}`);
  const wanted = [...whole, ...within, `refs/remotes/${name}/HEAD`];
  const listed = await user.text(['for-each-ref', '--format=%(refname)', ...wanted], call);
  const found = new Set(listed.split('\n'));
  return wanted.find((ref) => found.has(ref));
}

/** Commits whose ids begin so. */
async function heldBeginningWith(user: UserRepository, digits: string, call: Call): Promise<readonly ObjectId[]> {
  if (!/^[0-9a-f]{4,64}$/i.test(digits)) return [];
  const listed = await user.text(['rev-parse', `--disambiguate=${digits}`], call);
  const asking = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const types = await user.plumbing.text(asking, { ...call, input: `${listed}\n` });
  const commits = [...types.matchAll(/^([0-9a-f]+) commit$/gm)].map((match) => match[1] as ObjectId);
  return await heldCommits(user, commits, call);
}

async function commitAt(user: UserRepository, name: string, call: Call): Promise<ObjectId | undefined> {
  const args = ['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await user.run(args, call);
  return code === 0 ? (stdout.toString().trimEnd() as ObjectId) : undefined;
}

function refused(name: string, code: LitterboxErrorCode, why: string, hint: string): LitterboxError {
  return new LitterboxError(code, `${shown(name)} ${why}.`, { operation: 'sandbox.base', hint });
}

const ambiguous = (name: string) =>
  refused(name, 'REV_AMBIGUOUS', 'is the start of several object ids', 'Give more digits.');

const notCommit = (name: string) =>
  refused(name, 'REV_NOT_COMMIT', 'is not a commit', 'Give a branch, a tag or a commit id.');

const notHeld = (name: string) =>
  refused(
    name,
    'REV_NOT_FOUND',
    'is in no branch and no tag here',
    'Name a branch, a tag, or a commit that one of them holds.',
  );
