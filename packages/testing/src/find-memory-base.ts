import {
  type Asker,
  type Base,
  type BaseSource,
  type FoundBase,
  LitterboxError,
  type LitterboxErrorCode,
  type ObjectId,
} from '@litterbox/core/provider';
import type { KeptCommit, PersonalRepository } from './personal-repository.ts';

const HOLDERS = ['refs/heads/', 'refs/tags/', 'refs/remotes/'];
const REVIEW_BRANCH = /^refs\/(?:heads|remotes\/[^/]+)\/litterbox\//;

/** What a sandbox starts from. @throws LitterboxError `UNBORN_HEAD`, `REV_INVALID`, `REV_NOT_FOUND`. */
export function findMemoryBase(repository: PersonalRepository, source: BaseSource, asker: Asker): FoundBase {
  if (source.type === 'ref') {
    const commit = named(repository, source.name, asker);
    return { ...baseOf(commit), isPersons: isPersons(repository, commit.id) };
  }
  const { head, headRef } = repository;
  if (!head) throw refuse('UNBORN_HEAD', 'The repository has no commit yet.');
  const found = { headRef, isPersons: true }; // HEAD is on a branch of the person's
  if (source.type === 'head') return { ...baseOf(head), ...found };
  return { ...baseOf(repository.keep(repository.visible, [head.id], 'work tree')), ...found };
}

function named(repository: PersonalRepository, name: string, asker: Asker): KeptCommit {
  const { commits, refs, head } = repository;
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/.test(name) || name.includes('..'))
    throw refuse('REV_INVALID', `${JSON.stringify(name)} does not name one commit.`);
  const places = asker === 'agent' ? [] : [name, `refs/${name}`];
  const wholes = [...places, ...[name, ...HOLDERS.map((above) => `${above}${name}`)].filter(isHolder)];
  const id = wholes.map((ref) => refs.get(ref)).find((one) => one !== undefined);
  const commit = name === 'HEAD' ? head : [...commits.values()].find((one) => one.id === (id ?? name));
  if (commit && (asker === 'person' || isHeld(repository, commit.id, isHolder))) return commit;
  throw refuse('REV_NOT_FOUND', `There is no commit ${JSON.stringify(name)}.`);
}

const isHolder = (ref: string) => HOLDERS.some((above) => ref.startsWith(above));

function isPersons(repository: PersonalRepository, commit: ObjectId): boolean {
  return isHeld(repository, commit, (ref) => isHolder(ref) && !REVIEW_BRANCH.test(ref));
}

function isHeld(repository: PersonalRepository, commit: ObjectId, isWanted: (ref: string) => boolean): boolean {
  return [...repository.refs].some(([ref, tip]) => isWanted(ref) && repository.isReachable(commit, tip));
}

const baseOf = ({ id, tree }: KeptCommit): Base => ({ commit: id, tree });

function refuse(code: LitterboxErrorCode, message: string): LitterboxError {
  return new LitterboxError(code, message, { operation: 'repository.base' });
}
