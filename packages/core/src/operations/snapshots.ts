import * as z from 'zod';
import { ListSnapshots } from '../use-cases/go-back/list-snapshots.ts';
import { RemoveSnapshot } from '../use-cases/go-back/remove-snapshot.ts';
import { RestoreSnapshot, type RestoreSnapshotResult } from '../use-cases/go-back/restore-snapshot.ts';
import type { SandboxSnapshot } from '../use-cases/common/sandbox-snapshots.ts';
import { TakeSnapshot, type TakeSnapshotResult } from '../use-cases/go-back/take-snapshot.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

const GROUP = 'snapshot';
const label = () => fields.text('label').describe('Label of the snapshot, as list shows it');

/** `snapshot-create`, `litterbox snapshot create`: keep what workspace and home hold now. */
export const takeSnapshot = operation({
  name: 'snapshot-create',
  summary: 'Keep what workspace and home hold now, ignored files too',
  effect: 'write',
  command: {
    group: GROUP,
    verb: 'create',
    positional: ['sandbox', 'label'],
    examples: ['snapshot create fix-login', 'snapshot create fix-login before-the-upgrade'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    label: fields
      .text('label')
      .optional()
      .describe('What the snapshot is called, slugified. Default: the first free of s1, s2 …'),
    waitMs: fields.waitMs(),
  }),
  document: ({ id, name, note, warnings }: TakeSnapshotResult) => ({ id, name, ...note, warnings }),
  execute: async (useCases, input, options) =>
    await useCases.get(TakeSnapshot).take(input.sandbox, input.label, { ...options, patienceMs: input.waitMs }),
});

/** `snapshot-list`, `litterbox snapshot list`: the snapshots of a sandbox, oldest first. */
export const listSnapshots = operation({
  name: 'snapshot-list',
  summary: 'List the snapshots of a sandbox, oldest first, and what each takes',
  effect: 'read',
  command: { group: GROUP, verb: 'list', positional: ['sandbox'], examples: ['snapshot list fix-login'] },
  input: z.strictObject({ sandbox: fields.sandbox() }),
  document: (snapshots: readonly SandboxSnapshot[]) =>
    snapshots.map(({ id, name, takenAtMs, note, usage }) => ({ id, name, takenAtMs, ...note, ...usage })),
  execute: async (useCases, { sandbox }, options) => await useCases.get(ListSnapshots).list(sandbox, options),
});

/** `snapshot-restore`, `litterbox snapshot restore`: put workspace and home back to a snapshot. */
export const restoreSnapshot = operation({
  name: 'snapshot-restore',
  summary: 'Put workspace and home back to a snapshot, ignored files too; what runs ends, history only grows',
  effect: 'host',
  command: {
    group: GROUP,
    verb: 'restore',
    positional: ['sandbox', 'label'],
    examples: ['snapshot restore fix-login s1'],
  },
  input: z.strictObject({ sandbox: fields.sandbox(), label: label(), waitMs: fields.waitMs() }),
  document: ({ record, label: restored, revision }: RestoreSnapshotResult) => ({
    name: record.slug,
    state: record.state,
    label: restored,
    revision: revision ?? null,
  }),
  execute: async (useCases, input, options) =>
    await useCases.get(RestoreSnapshot).restore(input.sandbox, input.label, { ...options, patienceMs: input.waitMs }),
});

/** `snapshot-remove`, `litterbox snapshot remove`: give a snapshot up; the sandbox stays as it is. */
export const removeSnapshot = operation({
  name: 'snapshot-remove',
  summary: 'Remove a snapshot; the sandbox does not change',
  effect: 'host',
  command: {
    group: GROUP,
    verb: 'remove',
    positional: ['sandbox', 'label'],
    examples: ['snapshot remove fix-login s1'],
  },
  input: z.strictObject({ sandbox: fields.sandbox(), label: label(), waitMs: fields.waitMs() }),
  document: ({ name, note }: SandboxSnapshot) => ({ removed: { name, ...note } }),
  execute: async (useCases, input, options) =>
    await useCases.get(RemoveSnapshot).remove(input.sandbox, input.label, { ...options, patienceMs: input.waitMs }),
});
