import * as z from 'zod';
import { repositoryPath } from '../../domain/paths/repository-path.ts';
import type { SettledFile } from '../../ports/source-control/conflict-file.ts';
import type { FilePart } from '../../ports/source-control/file-part.ts';
import type { IntegrationPlan } from '../../ports/source-control/persons-repository.ts';
import {
  IntegrateChanges,
  type IntegrateResult,
  type OfferedConflict,
  type OfferedParts,
} from '../../use-cases/remove/integrate-changes.ts';
import type { ShownPlan } from '../../use-cases/review/shown-plan.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';
import { wordings } from '../declare/wording.ts';

const input = z.strictObject({
  sandbox: fields.sandbox(),
  arguments: z
    .array(z.string())
    .readonly()
    .register(wordings, { placeholder: 'argument', about: 'Arguments of git merge, from an allow-list' })
    .optional()
    .describe('After --: arguments of git merge, from an allow-list'),
  message: fields
    .message()
    .optional()
    .describe('For the merge commit, or the last commit where there is none; or that of an apply which is committed'),
  autostash: fields.flag().optional().describe('Put uncommitted edits aside and back again'),
  tip: fields.tip(),
  acceptRisky: fields.acceptRisky(),
  waitMs: fields.waitMs(),
});

/** The plan without what only the adapter understands. */
export function planDocument(plan: IntegrationPlan & Partial<Pick<ShownPlan, 'unsettled' | 'proof'>>) {
  const { tip, head, changes, conflicts, risky, dirtyOverlap, upToDate, unmilestoned, messages } = plan;
  const { already, passing, halfRenames, unmergedBase, notFollowed, unsettled, proof } = plan;
  return {
    tip,
    head,
    changes,
    conflicts,
    risky,
    dirtyOverlap,
    upToDate,
    unmilestoned,
    messages,
    ...(proof && { proof }),
    ...(already && { already }),
    ...(passing && { passing }),
    ...(halfRenames && { halfRenames }),
    ...(unmergedBase && { unmergedBase }),
    ...(notFollowed && { notFollowed }),
    ...(unsettled !== undefined && { unsettled }),
  };
}

const document = ({ outcome, commit, conflicts, isDeleted, unrecorded, plan }: IntegrateResult) => ({
  outcome,
  commit,
  isDeleted,
  ...(unrecorded && { unrecorded }),
  ...planDocument(plan),
  conflicts,
});

const paths = z.array(z.string()).readonly().optional();

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const parts = z
  .array(
    z.strictObject({
      path: z.string(),
      digest,
      changes: z.array(z.int().min(0)).min(1).readonly(),
    }),
  )
  .readonly()
  .register(wordings, { about: 'Some changes of files, each with the digest of all that were seen' })
  .optional();

const settled = z
  .array(
    z.union([
      z.strictObject({ path: z.string(), digest, take: z.enum(['ours', 'theirs']) }),
      z.strictObject({
        path: z.string(),
        digest,
        text: z.string().refine((text) => text.isWellFormed(), 'a text that UTF-8 can hold'),
      }),
    ]),
  )
  .readonly()
  .register(wordings, {
    about: 'Files in conflict as a person settled them, each with the digest of the sides that were seen',
  })
  .optional();

interface Parted {
  readonly paths?: readonly string[] | undefined;
  readonly parts?: readonly FilePart[] | undefined;
  readonly settled?: readonly SettledFile[] | undefined;
}

const atTop = <One extends { readonly path: string }>(one: One): One => ({ ...one, path: repositoryPath(one.path) });

const topPaths = <Values extends Parted>(values: Values) => ({
  ...values,
  paths: values.paths?.map(repositoryPath),
  parts: values.parts?.map(atTop),
  settled: values.settled?.map(atTop),
});

/** `sandbox-apply`, `litterbox apply`: bring the changes into index and work tree; the sandbox stays. */
export const applyChanges = operation({
  name: 'sandbox-apply',
  summary: 'Bring the changes into index and work tree; the sandbox stays',
  effect: 'host',
  command: {
    verb: 'apply',
    positional: ['sandbox', 'paths'],
    examples: [
      'apply fix-login',
      'apply fix-login src docs/api.md',
      'apply fix-login -p',
      "apply fix-login -p --commit -m 'Check the port'",
      'apply fix-login -- -X theirs',
    ],
  },
  input: input.extend({
    // At the command line they come after -- and begin with a dash.
    arguments: z
      .array(z.string())
      .readonly()
      .register(wordings, { about: 'Arguments of git merge, from an allow-list' })
      .optional(),
    paths: paths.describe('Only these files and directories; after --: arguments of git merge, from an allow-list'),
    parts,
    settled,
    commit: fields.flag().optional().describe('Commit it at once, as you'),
  }),
  document,
  execute: async (useCases, { waitMs: patienceMs, ...values }, options) => {
    const asked = {
      ...topPaths(values),
      integration: 'apply' as const,
      onPlan: options?.onPlan,
      onUnseen: options?.onUnseen,
    };
    return await useCases.get(IntegrateChanges).integrate(asked, { ...options, patienceMs });
  },
});

/** `sandbox-merge`, `litterbox merge`: merge into the current branch, then delete the sandbox. */
export const mergeChanges = operation({
  name: 'sandbox-merge',
  summary: 'Merge into the current branch, then delete the sandbox',
  effect: 'host',
  command: {
    verb: 'merge',
    positional: ['sandbox', 'arguments'],
    examples: ['merge fix-login', 'merge fix-login --dry-run', 'merge fix-login -- -X theirs'],
  },
  input: input.extend({ settled }),
  document,
  execute: async (useCases, { waitMs: patienceMs, ...values }, options) => {
    const asked = {
      ...topPaths(values),
      integration: 'merge' as const,
      onPlan: options?.onPlan,
      onUnseen: options?.onUnseen,
    };
    return await useCases.get(IntegrateChanges).integrate(asked, { ...options, patienceMs });
  },
});

/** `sandbox-plan`: say what an apply or merge would do, without doing it. */
export const planIntegration = operation({
  name: 'sandbox-plan',
  summary: 'Say what an apply or merge would do, without doing it',
  effect: 'read',
  input: input.extend({
    integration: z.enum(['apply', 'merge']).describe('The step that is planned'),
    paths: paths.describe('Only these files and directories, of an apply'),
    parts,
    settled,
    commit: fields.flag().optional().describe('Commit an apply at once, as you'),
  }),
  document: (plan: ShownPlan) => planDocument(plan),
  execute: async (useCases, values, options) => await useCases.get(IntegrateChanges).plan(topPaths(values), options),
});

/** `sandbox-offer`: what an apply would change, for somebody who takes parts of it. */
export const offerParts = operation({
  name: 'sandbox-offer',
  summary: 'Give what an apply would change, file by file and change by change',
  effect: 'read',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    paths: paths.describe('Only these files and directories'),
    tip: fields.tip(),
    waitMs: fields.waitMs(),
  }),
  execute: async (useCases, { waitMs: patienceMs, ...values }, options): Promise<OfferedParts> =>
    await useCases.get(IntegrateChanges).offer(topPaths(values), { ...options, patienceMs }),
});

/** `sandbox-conflict`: both sides of a file in conflict, for somebody who settles it before anything is taken in. */
export const readConflict = operation({
  name: 'sandbox-conflict',
  summary: 'Give both sides of a file that conflicts with the branch, before anything is done',
  effect: 'read',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    path: fields.text('path').describe('A file in conflict'),
    integration: z.enum(['apply', 'merge']).describe('The step in which it conflicts'),
    paths: paths.describe('Only these files and directories, of an apply'),
    parts,
    tip: fields.tip(),
  }),
  execute: async (useCases, { path, ...values }, options): Promise<OfferedConflict> =>
    await useCases.get(IntegrateChanges).conflict({ ...topPaths(values), path: repositoryPath(path) }, options),
});
