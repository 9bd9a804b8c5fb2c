import { LitterboxError } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import type { PersonsRepository } from '../../ports/source-control/persons-repository.ts';

/** @throws LitterboxError `NO_REPOSITORY` where a sandbox began with files, and its work has nowhere to go */
export function assertPersons(
  { isPersons }: Pick<PersonsRepository, 'isPersons'>,
  sandbox: string,
  verb: string,
): void {
  if (isPersons) return;
  throw new LitterboxError(
    'NO_REPOSITORY',
    `The sandbox ${shown(sandbox)} began with files and not from a repository: its work has no branch to go to.`,
    { operation: `sandbox.${verb}`, hint: 'Take its work out by files.archive(), files.download(paths) or diff().' },
  );
}
