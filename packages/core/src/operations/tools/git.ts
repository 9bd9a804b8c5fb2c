import * as z from 'zod';
import { condenseOutput } from '../../domain/search/condense-output.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { step } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';
import { AuditRead } from '../../use-cases/review/audit-read.ts';
import { CloneRepository } from '../../use-cases/work/clone-repository.ts';
import { ReadClone } from '../../use-cases/work/read-clone.ts';
import type { OperationOptions, UseCases } from '../declare/operation.ts';
import { readDiff } from '../review/read-diff.ts';
import { readLog } from '../review/read-log.ts';
import { patchText } from './text/patch-text.ts';
import { sandboxStatus } from './sandbox-status.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const SHOWN = { maxCharacters: 24_000, maxLineCharacters: 1_000 };
const DEFAULT_ENTRIES = 20;

const input = z.strictObject({
  sandbox: toolFields.sandbox(),
  action: z.enum(['clone', 'status', 'log', 'diff', 'show']),
  url: z.string().optional().describe('clone: https or http'),
  destination: z.string().optional().describe('clone: below the playground; default the name in the URL'),
  path: z.string().optional().describe('A clone in the playground; default the work of this sandbox'),
  revision: z.string().optional().describe('show: a revision of the sandbox by its number, or a commit of the clone'),
  limit: z.int().min(1).max(1000).optional().describe(`log: how many; default ${DEFAULT_ENTRIES}`),
});

export const git = tool({
  name: 'git',
  title: 'Use git',
  summary: 'Clone into the playground, and read what git knows',
  effect: 'read',
  isIdempotent: false,
  isOpenWorld: true,
  isOptional: true,
  profiles: ['standard', 'roadmap'],
  describe: ({ playground }) =>
    `Read-only git, and clone. clone fetches a public repository over https into ${playground}, after the person allowed it: the only way to the network. status, log, diff and show tell what this sandbox changed so far (log: its revisions; show: one of them), or read a clone in ${playground} given as path. Nothing commits, resets, checks out or pushes: changes are recorded by themselves.`,
  input,
  asks: ({ action, url, sandbox, destination }) =>
    action === 'clone'
      ? {
          question: `An agent wants to clone ${shown(String(url))} into the playground of the sandbox ${shown(String(sandbox))}. Fetch it from the network?`,
          otherwise: step('sandbox-clone', {
            sandbox: String(sandbox),
            url: String(url),
            ...(typeof destination === 'string' && { destination: [destination] }),
          }),
        }
      : undefined,
  async execute(useCases, { action, url, destination, path, ...rest }, options) {
    if (action === 'clone') {
      if (url === undefined)
        throw new LitterboxError('ARG_MISSING', 'clone needs the argument url.', {
          operation: 'git.clone',
          hint: 'Give an address such as https://example.org/project.git.',
        });
      const cloned = await useCases.get(CloneRepository).clone({ sandbox: rest.sandbox, url, destination }, options);
      const at = cloned.head === undefined ? 'it has no commit' : `at ${cloned.head.slice(0, 12)}`;
      return { type: 'text', text: [`[cloned ${shown(cloned.url)} into ${cloned.path}, ${at}]`], meta: { ...cloned } };
    }
    const text =
      path === undefined
        ? await ofSandbox(useCases, action, rest, options)
        : await useCases.get(ReadClone).read({ action, path, ...rest, limit: rest.limit ?? DEFAULT_ENTRIES }, options);
    const condensed = condenseOutput(text.toWellFormed().trimEnd(), SHOWN);
    return {
      type: 'text',
      text: [condensed.text === '' ? '[nothing]' : condensed.text],
      meta: { truncated: condensed.isCut },
    };
  },
});

/** The sandbox's own history, from the store: there is no repository in the workspace. */
async function ofSandbox(
  useCases: UseCases,
  action: 'status' | 'log' | 'diff' | 'show',
  { sandbox, revision, limit = DEFAULT_ENTRIES }: Pick<z.output<typeof input>, 'sandbox' | 'revision' | 'limit'>,
  options?: OperationOptions,
): Promise<string> {
  if (action === 'status') {
    const answer = await sandboxStatus.execute(useCases, { sandbox }, options);
    return JSON.stringify(answer.type === 'facts' ? answer.facts : {}, undefined, 1);
  }
  const read = async () => {
    if (action === 'log') {
      const entries = await readLog.execute(useCases, { sandbox, limit, revisionsOnly: true }, options);
      return entries.map((entry) => (entry.type === 'revision' ? `${entry.number} ${entry.subject}` : '')).join('\n');
    }
    const scope = { sandbox, revision: action === 'show' ? (revision ?? '') : undefined };
    const diff = await readDiff.execute(useCases, scope, options);
    return (await patchText(diff.patch(), 4 * SHOWN.maxCharacters)).text;
  };
  return await useCases.get(AuditRead).ofSandbox('sandbox-git', sandbox, read, options);
}
