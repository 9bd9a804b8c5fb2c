import { type Base, type BaseSource, LitterboxError, type LitterboxErrorCode } from '@litterbox/core/provider';
import type { KeptCommit, PersonalRepository } from './personal-repository.ts';

/** What a sandbox starts from. @throws LitterboxError `UNBORN_HEAD`, `REV_INVALID`, `REV_NOT_FOUND`. */
export function findMemoryBase(repository: PersonalRepository, source: BaseSource): Base {
  if (source.type === 'ref') return baseOf(named(repository, source.name));
  const { head, headRef } = repository;
  if (!head) throw refuse('UNBORN_HEAD', 'The repository has no commit yet.');
  if (source.type === 'head') return { ...baseOf(head), headRef };
  return { ...baseOf(repository.keep(repository.visible, [head.id], 'work tree')), headRef };
}

function named({ commits, refs, head }: PersonalRepository, name: string): KeptCommit {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/.test(name) || name.includes('..'))
    throw refuse('REV_INVALID', `${JSON.stringify(name)} does not name one commit.`);
  const id = [name, `refs/heads/${name}`].map((ref) => refs.get(ref)).find((one) => one !== undefined);
  const commit = name === 'HEAD' ? head : [...commits.values()].find((one) => one.id === (id ?? name));
  if (!commit) throw refuse('REV_NOT_FOUND', `There is no commit ${JSON.stringify(name)}.`);
  return commit;
}

const baseOf = ({ id, tree }: KeptCommit): Base => ({ commit: id, tree });

function refuse(code: LitterboxErrorCode, message: string): LitterboxError {
  return new LitterboxError(code, message, { operation: 'repository.base' });
}
