import * as z from 'zod';
import type { SandboxRecord } from '../../ports/state-store.ts';
import { FindShell } from '../../use-cases/find-shell.ts';
import { AuditRead } from '../../use-cases/audit-read.ts';
import { OpenRepository } from '../../use-cases/open-repository.ts';
import { nameText } from './name-text.ts';
import { reachableFact } from './reachable.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const MAX_FILES = 50;

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
});

/** The tool `sandbox-status`: one sandbox with its isolation, changes and ports. */
export const sandboxStatus = tool({
  name: 'sandbox-status',
  title: 'Show a sandbox',
  summary: 'Show what a sandbox is and what it changed',
  effect: 'read',
  isIdempotent: true,
  describe: () =>
    `Show a sandbox: its state, directories, shell, limits, and which files differ from its base (at most ${MAX_FILES}).`,
  input: z.strictObject({ sandbox: toolFields.sandbox() }),
  facts,
  async execute(useCases, { sandbox }, options) {
    const look = async (record: SandboxRecord) => {
      const repository = await useCases.get(OpenRepository).execute(options);
      const [history, changes, shell] = await Promise.all([
        repository.history(record.id, options),
        repository.changes(record.id, options),
        useCases.get(FindShell).execute(record, options),
      ]);
      return { record, history, changes, shell };
    };
    const { record, history, changes, shell } = await useCases
      .get(AuditRead)
      .ofSandbox('sandbox-status', sandbox, look, options);
    return {
      type: 'facts',
      facts: {
        name: record.slug,
        state: record.state,
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
      } satisfies z.input<typeof facts>,
    };
  },
});
