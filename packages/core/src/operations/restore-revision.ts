import * as z from 'zod';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { RecoverSandbox } from '../use-cases/go-back/recover-sandbox.ts';
import { type RestoreResult, RestoreRevision, type UndoResult } from '../use-cases/go-back/restore-revision.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

/** `sandbox-restore`, `litterbox restore`: put a sandbox back to a revision; history only grows. */
export const restoreRevision = operation({
  name: 'sandbox-restore',
  summary: 'Put a sandbox back to a revision; history only grows',
  effect: 'host',
  command: {
    verb: 'restore',
    positional: ['sandbox', 'revision'],
    examples: ['restore fix-login 3', 'restore fix-login 1a2b3c4'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    revision: fields.text('revision').describe('Number or commit, as log shows it'),
    waitMs: fields.waitMs(),
  }),
  document: ({ revision, unrecorded }: RestoreResult) => ({
    revision: revision ?? null,
    ...(unrecorded && { unrecorded }),
  }),
  execute: async (useCases, { sandbox, revision, waitMs: patienceMs }, options) =>
    await useCases.get(RestoreRevision).restore(sandbox, revision, { ...options, patienceMs }),
});

/** `sandbox-undo`, `litterbox undo`: take the last change of a sandbox back; again takes back the one before. */
export const undoRevision = operation({
  name: 'sandbox-undo',
  summary: 'Undo the last change of a sandbox; again undoes the one before; history only grows',
  effect: 'host',
  command: { verb: 'undo', positional: ['sandbox'], examples: ['undo fix-login'] },
  input: z.strictObject({ sandbox: fields.sandbox(), waitMs: fields.waitMs() }),
  document: ({ revision, target, unrecorded }: UndoResult) => ({
    revision: revision ?? null,
    target,
    ...(unrecorded && { unrecorded }),
  }),
  execute: async (useCases, { sandbox, waitMs: patienceMs }, options) =>
    await useCases.get(RestoreRevision).undo(sandbox, { ...options, patienceMs }),
});

/** `sandbox-recover`, `litterbox recover`: rebuild a sandbox that does not work any more from its last revision. */
export const recoverSandbox = operation({
  name: 'sandbox-recover',
  summary: 'Rebuild a sandbox that does not work any more from its last revision',
  effect: 'host',
  command: { verb: 'recover', positional: ['sandbox'], examples: ['recover fix-login', 'recover fix-login --force'] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    force: fields.flag().optional().describe('Even if it works; its home and the files that git ignores are lost'),
    waitMs: fields.waitMs(),
  }),
  document: ({ slug, state }: SandboxRecord) => ({ name: slug, state }),
  execute: async (useCases, { sandbox, force, waitMs: patienceMs }, options) =>
    await useCases.get(RecoverSandbox).recover(sandbox, { force }, { ...options, patienceMs }),
});
