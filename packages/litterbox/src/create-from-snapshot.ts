import {
  type CreateSandboxResult,
  type ForkResult,
  forkSandbox,
  listSandboxes,
  LitterboxError,
  parseSnapshotId,
  type ProgressOptions,
  shown,
  slugify,
} from '@litterbox/core';
import type { Performer } from './create-performer.ts';
import type { CreateInput } from './operation-options.ts';

/**
 * A new sandbox of a snapshot, whichever sandbox of the repository that was taken of.
 *
 * @throws LitterboxError `NOT_FOUND`; `INVALID_ARGUMENT` for what only a sandbox of a commit can be told
 */
export async function createFromSnapshot(
  { perform }: Performer,
  { from = '', name, labels, ephemeral, ...rest }: CreateInput,
  call?: ProgressOptions,
): Promise<CreateSandboxResult> {
  const [other] = Object.entries(rest).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (other !== undefined)
    throw new LitterboxError('INVALID_ARGUMENT', `${other}: a sandbox of a snapshot has what that was taken with.`, {
      operation: 'sandbox.create',
      hint: 'Leave it out: name, labels and ephemeral may be given.',
    });
  const found = parseSnapshotId(from);
  const owner = (await perform(listSandboxes, {}, call)).find(({ id }) => id === found?.sandbox);
  if (!found || !owner)
    throw new LitterboxError('NOT_FOUND', `There is no snapshot ${shown(from)}.`, {
      operation: 'sandbox.create',
      hint: 'Snapshots go with the sandbox that they were taken of.',
    });
  const input = { sandbox: owner.name, snapshot: found.name, name, labels, ephemeral };
  const { record, hold, warnings } = (await perform(forkSandbox, input, call)) as ForkResult; // of one
  return {
    record,
    ...(hold && { hold }),
    isRenamed: name !== undefined && slugify(name).lossy,
    leftOut: Promise.resolve({ paths: [], total: 0 }),
    warnings,
  };
}
