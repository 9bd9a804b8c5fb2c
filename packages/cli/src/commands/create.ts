import {
  type CreateSandboxResult,
  createSandbox,
  dependencyAdvice,
  forkSandbox,
  type HeldBack,
  isLitterboxError,
  missingControls,
  type Parsed,
  portUrl,
  type SandboxRecord,
  visibleName,
  hintForPeople,
  isBare,
} from '@litterbox/core';
import { BARE_IMAGE } from '../bare-image.ts';
import { cameByLink } from '../came-by-link.ts';
import type { Context } from '../context.ts';
import { reportForks } from '../terminal/report-forks.ts';

async function create(context: Context, input: Parsed<typeof createSandbox>): Promise<void> {
  const { talk, signal } = context;
  const started = performance.now();
  const litterbox = await context.settled();
  const created = await litterbox.perform(createSandbox, input, { signal, onProgress: talk.progress });
  const { record } = created;
  const leftOut = await created.leftOut.catch(() => undefined); // the sandbox is there, whatever git says of the work tree
  for (const warning of created.warnings) talk.warning(warning);
  if (created.isRenamed) talk.notice(`The name became ${record.slug}.`);
  if (!leftOut) talk.warning('git could not say which uncommitted changes are not in the sandbox.');
  else if (leftOut.total > 0) {
    talk.notice(
      `${leftOut.total === 1 ? 'One uncommitted change is' : `${leftOut.total} uncommitted changes are`} not in the sandbox: ${leftOut.paths
        .slice(0, 5)
        .map((path) => visibleName(path))
        .join(', ')}${leftOut.total > 5 ? ' …' : ''} (to include them: --from worktree)`,
    );
  }
  if (created.heldBack) talk.notice(heldBackNotice(created.heldBack));
  if (talk.json) return talk.document(await createSandbox.document?.(created));
  describe(context, record, started);
  advise(context, created);
  talk.result(record.slug);
}

/** Which files look like secrets, what they seem to hold, and how one is brought all the same. */
function heldBackNotice({ files, total }: HeldBack): string {
  const told = files.slice(0, 5);
  const names = told.map(
    ({ path, holds, isTracked }) => `${visibleName(path)} (${holds}${isTracked ? ', as committed' : ''})`,
  );
  const what =
    total === 1
      ? 'One file looks like a secret, so the sandbox does not have your copy'
      : `${total} files look like secrets, so the sandbox does not have your copies`;
  return `${what}: ${names.join(', ')}${total > told.length ? ' …' : ''} (to include ${total === 1 ? 'it' : 'one'}: --include ${visibleName(told[0]?.path ?? 'PATH')})`;
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
