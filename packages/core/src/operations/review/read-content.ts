import * as z from 'zod';
import { repositoryPath } from '../../domain/paths/repository-path.ts';
import { FindSandbox } from '../../use-cases/common/find-sandbox.ts';
import { OpenRepository } from '../../use-cases/common/open-repository.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** Largest content that is read into memory, in bytes. */
const MAX_BYTES = 8 * 2 ** 20;

/** `sandbox-content`: a file as it was recorded. It is asked of the history: no runtime starts. */
export const readContent = operation({
  name: 'sandbox-content',
  summary: 'Give the content of a file as a revision has it, or as the sandbox began with it',
  effect: 'read',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    path: fields.text('path').describe('A file of the repository'),
    revision: fields.text('number').describe('A revision by number or commit; 0 is what the sandbox began with'),
  }),
  /** The bytes, hostile; undefined where there is no ordinary file. @throws LitterboxError `FILE_TOO_LARGE` beyond eight mebibytes */
  execute: async (useCases, { sandbox, path, revision }, options): Promise<Uint8Array | undefined> => {
    const { id } = await useCases.get(FindSandbox).find(sandbox, options);
    const repository = await useCases.get(OpenRepository).open(options);
    const { commit: at } = await repository.resolve(id, revision, options);
    return await repository.content(id, repositoryPath(path), { ...options, at, maxBytes: MAX_BYTES });
  },
});
