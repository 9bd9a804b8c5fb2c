import * as z from 'zod';
import { OpenRepository } from '../../use-cases/common/open-repository.ts';
import { LookAtSandbox } from '../../use-cases/review/look-at-sandbox.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** The files of a workspace, to be read once. */
export interface FilesArchive {
  /** One sentence: why the workspace was not looked into, so that its last changes may be missing. */
  readonly unsettled?: string;
  /** In the format tar; hostile. */
  readonly tar: ReadableStream<Uint8Array>;
}

/** `files-archive`: all recorded files of a sandbox as one archive. */
export const archiveFiles = operation({
  name: 'files-archive',
  summary: 'Give all recorded files of a sandbox as one archive',
  effect: 'read',
  input: z.strictObject({ sandbox: fields.sandbox() }),
  async execute(useCases, { sandbox }, options): Promise<FilesArchive> {
    const { tip, unsettled } = await useCases.get(LookAtSandbox).look(sandbox, options);
    const repository = await useCases.get(OpenRepository).open(options);
    const tar = repository.tree(tip.tree, { signal: options?.signal });
    return { tar, ...(unsettled !== undefined && { unsettled }) };
  },
});
