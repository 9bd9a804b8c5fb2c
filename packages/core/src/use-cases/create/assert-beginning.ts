import { LitterboxError } from '../../domain/errors/errors.ts';
import type { BaseSource, PersonsRepository } from '../../ports/source-control/persons-repository.ts';

/**
 * Files are what a sandbox begins with where there is no repository of a person's, and nothing else is.
 *
 * @throws LitterboxError `INVALID_ARGUMENT`, `NO_REPOSITORY`
 */
export function assertBeginning(
  { isPersons }: Pick<PersonsRepository, 'isPersons'>,
  from: BaseSource | undefined,
  isLive: boolean,
): void {
  const operation = 'sandbox.create';
  if (isPersons && from?.type === 'files')
    throw new LitterboxError('INVALID_ARGUMENT', 'A sandbox of a repository begins from one of its commits.', {
      operation,
      hint: 'Give files to a Litterbox without a repository: createLitterbox({ repo: false, … }). Here, call files.upload after create.',
    });
  const isFrom = from !== undefined && from.type !== 'files' && from.type !== 'head';
  if (isPersons || !(isFrom || isLive)) return;
  throw new LitterboxError('NO_REPOSITORY', 'This Litterbox has no repository that a sandbox could begin from.', {
    operation,
    hint: 'Give files, or name a repository: createLitterbox({ repo: DIRECTORY, … }).',
  });
}
