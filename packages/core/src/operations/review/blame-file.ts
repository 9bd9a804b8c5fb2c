import * as z from 'zod';
import { repositoryPath } from '../../domain/paths/repository-path.ts';
import { BlameFile, type FileBlame } from '../../use-cases/review/blame-file.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-blame`, `litterbox blame`: lead each changed line of a file to the call that wrote it. */
export const blameFile = operation({
  name: 'sandbox-blame',
  summary: 'Show which call wrote each changed line of a file',
  effect: 'read',
  command: {
    verb: 'blame',
    positional: ['sandbox', 'path'],
    examples: ['blame fix-login src/login.ts', 'blame fix-login README.md --json'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    path: fields.text('path').describe('A file of the repository'),
  }),
  document: ({ tip, changes, unsettled }: FileBlame) => ({
    tip,
    changes: changes.map(({ firstLine, lines, made }) => {
      const { number: revision, commit, subject, call, callId, command, actor, exitCode } = made;
      return { firstLine, lines, revision, commit, subject, call, callId, command, actor, exitCode };
    }),
    ...(unsettled !== undefined && { unsettled }),
  }),
  execute: async (useCases, { sandbox, path }, options) =>
    await useCases.get(BlameFile).blame(sandbox, repositoryPath(path), options),
});
