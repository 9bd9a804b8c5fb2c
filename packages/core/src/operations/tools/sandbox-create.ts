import { step } from '../../domain/errors/next-step.ts';
import * as z from 'zod';
import { shown } from '../../domain/text/shown.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { LeftOut } from '../../use-cases/create/create-options.ts';
import { dependencyAdvice } from '../../use-cases/decide/dependency-advice.ts';
import type { MissingDependencies } from '../../use-cases/decide/missing-dependencies.ts';
import { createSandbox } from '../create-sandbox.ts';
import { reachableFact } from '../../domain/sandbox/reachable.ts';
import { tool } from './tool.ts';

/** How long the answer waits for git to find the uncommitted changes that are not in the sandbox. */
const LEFT_OUT_WAIT_MS = 2_000;

const facts = z.object({
  name: z.string(),
  workdir: z.string(),
  playground: z.string(),
  base: z.string(),
  network: z.enum(['none', 'allow-list']),
  reachable: z.array(z.string()).optional(),
  note: z.string().optional(),
  ports: z.array(z.object({ name: z.string(), inside: z.number(), outside: z.number() })).optional(),
  leftOut: z.array(z.string()).optional(),
});

export const sandboxCreate = tool({
  name: 'sandbox-create',
  title: 'Make a sandbox',
  summary: 'Make a sandbox with a copy of the repository',
  effect: 'write',
  isIdempotent: false,
  profiles: ['standard', 'roadmap'],
  describe: () =>
    `Make a disposable sandbox, with its own copy of the repository's last commit and its own branch. Make one per task, then pass its name to the other tools. Fails when the name is taken.`,
  input: z.strictObject({
    name: z.string().describe('Becomes a slug of a-z, 0-9 and dashes: fix-login'),
    from: z
      .string()
      .optional()
      .describe(
        'head, worktree (with the uncommitted changes, if the person allows it) or a commit; default as configured',
      ),
  }),
  facts,
  asks: ({ name, from }) =>
    from === 'worktree'
      ? {
          question: `An agent wants to make the sandbox ${shown(String(name))} with your uncommitted changes, new files that are not ignored and do not look like secrets included. Give it a copy of them?`,
          otherwise: step('sandbox-create', { name: String(name), from: 'worktree' }),
        }
      : undefined,
  async execute(useCases, { name, from }, options) {
    const { record, isRenamed, leftOut, heldBack, missingDependencies, warnings } = await createSandbox.execute(
      useCases,
      { name, from },
      from === 'worktree' ? { ...options, ask: undefined } : options, // one question a call
    );
    const missing = await soon(leftOut);
    const notes = [
      ...(isRenamed ? [`The name became ${record.slug}.`] : []),
      ...(missing && missing.total > 0
        ? [
            missing.total === 1
              ? 'One uncommitted change of the person is not in it.'
              : `${missing.total} uncommitted changes of the person are not in it.`,
          ]
        : []),
      ...(heldBack
        ? [
            `${heldBack.total} uncommitted files of the person look like secrets and are not in it; only the person can add them, by include.`,
          ]
        : []),
      ...(missingDependencies ? [dependencyNote(record, from, missingDependencies)] : []),
      ...warnings,
    ];
    return {
      type: 'facts',
      facts: {
        name: record.slug,
        workdir: record.workdir,
        playground: '/playground',
        base: record.baseCommit,
        network: record.policy.network.run,
        ...reachableFact(record.policy.network),
        ...(record.ports && { ports: record.ports.map((port) => ({ ...port })) }),
        ...(notes.length > 0 && { note: notes.join(' ') }),
        ...(missing && missing.total > 0 && { leftOut: [...missing.paths] }),
      } satisfies z.input<typeof facts>,
    };
  },
});

/** Names the command that is the shortest for the person: their own copy where there is one. */
function dependencyNote(
  { slug, policy }: SandboxRecord,
  from: string | undefined,
  missing: MissingDependencies,
): string {
  const args = ['create', slug, ...(from === undefined ? [] : ['--from', from])];
  const { reason, withCopy, withSetup } = dependencyAdvice({ slug, policy, args }, missing);
  return `${reason} Programs that need dependencies fail until the person runs: ${withCopy ?? withSetup}`;
}

/** What is known soon enough; a large repository keeps git busy for longer than an agent should wait. */
async function soon(leftOut: Promise<LeftOut>): Promise<LeftOut | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, LEFT_OUT_WAIT_MS, undefined);
  });
  try {
    return await Promise.race([leftOut.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
