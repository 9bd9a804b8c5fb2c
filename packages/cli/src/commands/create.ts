import {
  type CreateSandboxResult,
  createSandbox,
  dependencyAdvice,
  forkSandbox,
  isLitterboxError,
  missingControls,
  type Parsed,
  portUrl,
  type SandboxRecord,
  hintForPeople,
  isBare,
} from '@litterbox/core';
import { BARE_IMAGE } from '../bare-image.ts';
import { cameByLink } from '../came-by-link.ts';
import type { Context } from '../context.ts';
import { leftBehind } from '../left-behind.ts';
import { reportForks } from '../terminal/report-forks.ts';

async function create(context: Context, input: Parsed<typeof createSandbox>): Promise<void> {
  const { talk, signal } = context;
  const started = performance.now();
  const litterbox = await context.settled();
  const created = await litterbox.perform(createSandbox, input, { signal, onProgress: talk.progress });
  const { record } = created;
  for (const warning of created.warnings) talk.warning(warning);
  if (created.isRenamed) talk.notice(`The name became ${record.slug}.`);
  for (const sentence of await leftBehind(created, (path) => `--include ${path}`)) talk.notice(sentence);
  if (talk.json) return talk.document(await createSandbox.document?.(created));
  describe(context, record, started);
  advise(context, created);
  talk.result(record.slug);
}

/** What of the person's project is not inside, and how it gets there. */
function advise({ talk, args, directory }: Context, { record, missingDependencies }: CreateSandboxResult): void {
  const { slug, policy, workdir } = record;
  if (cameByLink(directory, process.env['PWD']))
    talk.notice(`The current directory is a link. Inside, the files are at ${workdir}.`);
  if (missingDependencies) {
    const repository = directory === process.cwd() ? undefined : directory;
    const { reason, withCopy, withSetup } = dependencyAdvice({ slug, policy, args, repository }, missingDependencies);
    const copy = withCopy === undefined ? [] : ['To recreate the sandbox with your copy, run:', `  ${withCopy}`];
    const setup = ['To recreate the sandbox with dependencies installed from the network, run:', `  ${withSetup}`];
    talk.notice([reason, ...copy, ...setup].join('\n'));
  } else if (isBare(policy)) talk.notice(BARE_IMAGE);
}

async function fork(context: Context, input: Parsed<typeof forkSandbox>): Promise<void> {
  const { talk, signal } = context;
  const started = performance.now();
  const litterbox = await context.settled();
  const forked = await reportForks(talk, (onFork) =>
    litterbox.perform(forkSandbox, input, { signal, onProgress: talk.progress, onFork }),
  );
  const all = 'forks' in forked ? forked.forks : [forked];
  const made = all.filter((one) => 'record' in one);
  const failures = all.filter((one) => 'error' in one).map(({ error }) => error);
  for (const { warnings } of made) for (const warning of warnings) talk.warning(warning);
  if (talk.json) talk.document(forkSandbox.document?.(forked));
  else {
    for (const { record, forkedFrom } of made) {
      talk.notice(`${record.slug} is a copy of ${forkedFrom}.`);
      talk.result(record.slug);
    }
    const [first] = made;
    if (first) describe(context, first.record, started);
    // The last words of this program are the first failure; the others are said before.
    for (const error of failures.slice(1))
      talk.error(error.message, isLitterboxError(error) ? hintForPeople(error.details) : undefined);
  }
  if (failures.length > 0) throw failures[0];
}

function describe({ talk }: Context, record: SandboxRecord, started: number): void {
  const { assurance } = record;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const missing = assurance === undefined ? [] : missingControls(assurance).map(({ name }) => name);
  talk.notice(`Created ${record.slug} at ${record.baseCommit.slice(0, 10)} in ${seconds} s.`);
  if (missing.length > 0)
    talk.warning(`Not enforced: ${missing.join(', ')}. litterbox explain ${record.slug} says why.`);
  for (const { name, inside, outside } of record.ports ?? [])
    talk.notice(`port ${name}: ${portUrl({ outside })} leads to ${inside} inside`);
  const { setup, run, allow = [] } = record.policy.network;
  if (setup !== 'none' || run !== 'none')
    talk.notice(
      `network, ${run === 'none' ? 'for the setup alone' : 'for commands'}: ${allow.join(', ') || 'nothing'}`,
    );
}

export const presented = {
  'sandbox-create': { operation: createSandbox, present: create },
  'sandbox-fork': { operation: forkSandbox, present: fork },
} as const;
