import * as z from 'zod';
import { agentPath } from '../../domain/paths/agent-path.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import { visible } from '../../domain/text/visible.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxHistories } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { AuditRead } from '../../use-cases/review/audit-read.ts';
import { OpenRepository } from '../../use-cases/common/open-repository.ts';
import { nameText } from './text/name-text.ts';
import { patchText } from './text/patch-text.ts';
import { reachableFact } from '../../domain/sandbox/reachable.ts';
import { type ComputeUse, ReadCompute } from '../../use-cases/review/read-compute.ts';
import { ReadNotes } from '../../use-cases/review/read-notes.ts';
import { stateAndShell } from '../state-and-shell.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const MAX_FILES = 50;
const MAX_DIFF_CHARACTERS = 24_000;

const facts = z.object({
  name: z.string(),
  state: z.string(),
  workdir: z.string(),
  playground: z.string(),
  shell: z.enum(['bash', 'sh']).optional(),
  network: z.string(),
  reachable: z.array(z.string()).optional(),
  timeoutMs: z.number(),
  base: z.string(),
  revisions: z.number(),
  revisionsSinceMilestone: z.number(),
  emptySubmodules: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
  missingLargeFiles: z.object({ paths: z.array(z.string()), total: z.number() }).optional(),
  changedFiles: z.number(),
  files: z.array(
    z.object({ path: z.string(), status: z.string(), added: z.number().optional(), removed: z.number().optional() }),
  ),
  usage: z.object({
    callMs: z.number(),
    cpuMs: z.number().optional(),
    isCpuLeast: z.boolean().optional(),
    memoryBytes: z.number().optional(),
    diskBytes: z.number().optional(),
    processes: z.number().optional(),
  }),
  notes: z
    .array(
      z.object({
        path: z.string(),
        line: z.number(),
        revision: z.number(),
        text: z.string().optional(),
        words: z.string(),
      }),
    )
    .optional(),
  diff: z.string().optional(),
});

/** The tool `sandbox-status`: one sandbox with its isolation, changes and ports. */
export const sandboxStatus = tool({
  name: 'sandbox-status',
  title: 'Show a sandbox',
  summary: 'Show what a sandbox is and what it changed',
  effect: 'read',
  isIdempotent: true,
  describe: () =>
    `Show a sandbox: state, directories, shell, limits, and which files differ from its base (at most ${MAX_FILES}). Do what its notes ask: a person left them.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    diff: z.boolean().optional().describe('With the unified diff'),
    path: z.string().optional().describe('Of the diff only this'),
  }),
  facts,
  async execute(useCases, { sandbox, diff = false, path }, options) {
    const look = async (record: SandboxRecord) => {
      const repository = await useCases.get(OpenRepository).open(options);
      const [history, changes, { state, shell }, notes, use, text] = await Promise.all([
        repository.history(record.id, options),
        repository.changes(record.id, options),
        stateAndShell(useCases, record, options),
        useCases.get(ReadNotes).give(record, options),
        useCases.get(ReadCompute).of(record, options),
        diff || path !== undefined ? diffText(repository, record, path, options) : undefined,
      ]);
      return { record, history, changes, state, shell, notes, use, text };
    };
    const { record, history, changes, state, shell, notes, use, text } = await useCases
      .get(AuditRead)
      .ofSandbox('sandbox-status', sandbox, look, options);
    return {
      type: 'facts',
      facts: {
        name: record.slug,
        state,
        workdir: record.workdir,
        playground: '/playground',
        ...(shell && { shell }),
        network: record.policy.network.run,
        ...reachableFact(record.policy.network),
        timeoutMs: record.policy.timeoutMs,
        base: record.baseCommit,
        revisions: history.tip.number,
        revisionsSinceMilestone: history.unmilestoned,
        ...(record.emptySubmodules && {
          emptySubmodules: record.emptySubmodules.map(({ path, reason }) => ({ path: nameText(path), reason })),
        }),
        ...(record.missingLargeFiles && {
          missingLargeFiles: {
            paths: record.missingLargeFiles.paths.map((path) => nameText(path)),
            total: record.missingLargeFiles.total,
          },
        }),
        changedFiles: changes.length,
        files: changes.slice(0, MAX_FILES).map(({ path, status, addedLines, removedLines }) => ({
          path: nameText(path),
          status,
          ...(addedLines !== undefined && { added: addedLines }),
          ...(removedLines !== undefined && { removed: removedLines }),
        })),
        usage: usageFacts(use),
        ...(notes.length > 0 && {
          notes: notes.map(({ path, line, revision, text: lineText, words }) => ({
            path: nameText(path),
            line,
            revision,
            ...(lineText !== undefined && { text: visible(lineText) }),
            words,
          })),
        }),
        ...(text !== undefined && { diff: text }),
      } satisfies z.input<typeof facts>,
    };
  },
});

function usageFacts({ callMs, now: { cpuMs, isCpuLeast, memoryBytes, diskBytes, processes } = {} }: ComputeUse) {
  return {
    callMs,
    ...(cpuMs !== undefined && { cpuMs }),
    ...(isCpuLeast && { isCpuLeast }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(diskBytes !== undefined && { diskBytes }),
    ...(processes !== undefined && { processes }),
  };
}

/** The diff from the base, as far as a model reads at once; it is cut behind a whole line. */
async function diffText(
  repository: SandboxHistories,
  { id, workdir }: SandboxRecord,
  path: string | undefined,
  options?: CallOptions,
): Promise<string> {
  const paths = path === undefined ? [] : pathsOf(workdir, path);
  const scope = { ...options, ...(paths.length > 0 && { paths }) };
  const { text, isCut } = await patchText(repository.diff(id, scope), MAX_DIFF_CHARACTERS);
  if (!isCut) return text;
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return `${whole}[cut after ${whole.length} characters; give path for one file or directory]`;
}

function pathsOf(workdir: string, path: string): readonly string[] {
  const target = agentPath(workdir, path);
  if (target.isInWorkspace) return target.shown === '.' ? [] : [target.shown];
  throw new LitterboxError('PATH_OUTSIDE_WORKDIR', `${shown(path)} does not lie in the workspace.`, {
    operation: 'sandbox.status',
    hint: 'Only changes in the workspace are recorded: name a file or a directory there.',
  });
}
