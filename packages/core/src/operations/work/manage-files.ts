import * as z from 'zod';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import { ManageFiles } from '../../use-cases/work/manage-files.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

const path = () => fields.text('path').describe('Absolute inside, or relative to the workspace');
const changing = {
  sandbox: fields.sandbox(),
  path: path(),
  recursive: fields.flag().optional(),
  message: fields.message().optional().describe('The subject of the revision'),
  waitMs: fields.waitMs(),
};

/** `file-status`: look at what lies at a path of a sandbox. */
export const readFileStatus = operation({
  name: 'file-status',
  summary: 'Look at what lies at a path of a sandbox',
  effect: 'read',
  input: z.strictObject({ sandbox: fields.sandbox(), path: path() }),
  execute: async (useCases, input, options) =>
    await useCases.get(ManageFiles).status(input.sandbox, input.path, options),
});

/** `file-list`: list the names in a directory of a sandbox, hidden ones too. */
export const listDirectory = operation({
  name: 'file-list',
  summary: 'List the names in a directory of a sandbox, hidden ones too',
  effect: 'read',
  input: z.strictObject({ sandbox: fields.sandbox(), path: path() }),
  execute: async (useCases, input, options) => await useCases.get(ManageFiles).list(input.sandbox, input.path, options),
});

/** `directory-make`: make a directory in a sandbox, and with `recursive` those above it. */
export const makeDirectory = operation({
  name: 'directory-make',
  summary: 'Make a directory in a sandbox',
  effect: 'write',
  input: z.strictObject(changing),
  document: (recorded: RevisionResult) => recorded,
  execute: async (useCases, { recursive: isRecursive = false, ...input }, options) =>
    await useCases.get(ManageFiles).change({ ...input, action: { type: 'make-directory', isRecursive } }, options),
});

/** `file-remove`: remove a file of a sandbox, or with `recursive` a directory and all below it, and record it. */
export const removePath = operation({
  name: 'file-remove',
  summary: 'Remove a file or directory of a sandbox and record it',
  effect: 'write',
  input: z.strictObject(changing),
  document: (recorded: RevisionResult) => recorded,
  execute: async (useCases, { recursive: isRecursive = false, ...input }, options) =>
    await useCases.get(ManageFiles).change({ ...input, action: { type: 'remove', isRecursive } }, options),
});

/** `file-copy`: copy a file of a sandbox, or with `recursive` a directory and all below it, and record it. */
export const copyPath = operation({
  name: 'file-copy',
  summary: 'Copy a file or directory of a sandbox and record it',
  effect: 'write',
  input: z.strictObject({ ...changing, to: path() }),
  document: (recorded: RevisionResult) => recorded,
  execute: async (useCases, { recursive: isRecursive = false, to, ...input }, options) =>
    await useCases.get(ManageFiles).change({ ...input, action: { type: 'copy', to, isRecursive } }, options),
});
