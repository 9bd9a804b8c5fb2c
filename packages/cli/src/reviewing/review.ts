import { once } from 'node:events';
import {
  applyChanges,
  decodeRaw,
  ERROR_CODES,
  type FileChange,
  type HistoryEntry,
  type Integration,
  type IntegrationPlan,
  isLitterboxError,
  LitterboxError,
  mergeChanges,
  type Parsed,
  planDocument,
  planIntegration,
  readCompute,
  readDiff,
  readLog,
  readProof,
  groupedRisks,
  riskLines,
  type RiskyChange,
  type ShownPlan,
  type ShowUnseen,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { isAtTerminal } from '../terminal/ask.ts';
import { fromHere } from '../from-here.ts';
import { diffLine } from '../terminal/diff-line.ts';
import { proofLines } from '../terminal/proof-lines.ts';
import { passOn } from '../terminal/output-streams.ts';
import { lastAgentCall } from './last-agent-call.ts';
import { showCall } from './past-call.ts';
import { unrecordedNames } from '../words/unrecorded-names.ts';
import { computeLines } from '../inside/cost.ts';
import { takeParts } from './take-parts.ts';
import { showPaged } from '../show-paged.ts';
import { statLines } from '../terminal/stat-lines.ts';
import { ago } from '../terminal/table.ts';
import type { Talk } from '../terminal/talk.ts';

async function log(
  context: Context,
  input: Parsed<typeof readLog>,
  options: { readonly patch?: boolean },
): Promise<void> {
  if (input.call !== undefined) return await showCall(context, input.sandbox, input.call);
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  // With patches it is a look at everything, as a diff is.
  const look = options.patch
    ? await litterbox.perform(readDiff, { sandbox: input.sandbox }, { signal, onProgress: talk.progress })
    : undefined;
  showUnsettled(talk, look);
  const entries = await litterbox.perform(readLog, input, { signal });
  if (talk.json) return talk.document(readLog.document?.(entries));
  const patch = async (revision: string) =>
    (await litterbox.perform(readDiff, { sandbox: input.sandbox, revision }, { signal })).patch();
  await showPaged(context, logLines(talk, entries, options.patch ? patch : undefined), 'Nothing happened in it yet.');
  if (entries.length > 0) {
    const proof = await litterbox.perform(readProof, { sandbox: input.sandbox }, { signal });
    for (const line of proofLines(talk, proof, input.sandbox)) talk.notice(line);
    const sums = await litterbox.perform(readCompute, { sandbox: input.sandbox, sumsAlone: true }, { signal });
    for (const line of computeLines(sums)) talk.notice(`Together: ${line}.`);
  }
  const newest = entries.find((entry) => entry.type === 'revision');
  if (input.limit === undefined && newest?.commit === look?.tip) await look?.markShown();
}

function showUnsettled(talk: Talk, look: { readonly unsettled?: string } | undefined): void {
  if (look?.unsettled !== undefined) talk.notice(talk.paint('yellow', visible(look.unsettled), process.stderr));
}

async function* logLines(
  talk: Talk,
  entries: readonly HistoryEntry[],
  patch: ((revision: string) => Promise<AsyncIterable<Uint8Array>>) | undefined,
): AsyncGenerator<string, void, undefined> {
  for (const entry of entries) {
    if (entry.type === 'call') {
      const { call, subject, atMs, exitCode, outcome } = entry;
      const ended = outcome === 'ok' ? (exitCode ? `, exit ${exitCode}` : '') : `, ${outcome}`;
      yield talk.paint(
        'dim',
        `   ·  ${visibleName(subject.split('\n')[0] ?? '', 72)}  no change, ${ago(atMs)}${ended}, call ${call}`,
      );
      continue;
    }
    const { number, commit, atMs, subject, body, milestone, call } = entry;
    yield `${talk.paint('yellow', String(number).padStart(4))}  ${visible(subject)}  ${talk.paint('dim', `${commit.slice(0, 10)}, ${ago(atMs)}${milestone ? ', milestone' : ''}${call === undefined ? '' : `, call ${call}`}`)}`;
    if (!patch) continue;
    if (body !== '') yield visible(body).replace(/^/gm, '      ');
    yield* diffLines(talk, await patch(commit));
  }
}

async function* diffLines(talk: Talk, patch: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  for await (const line of lines(patch)) yield diffLine(talk, visible(line));
}

/** In a list, where the place in it is not the length. */
const nameOf = (name: string) => visibleName(name);

export interface DiffFlags {
  readonly stat?: boolean;
  readonly nameOnly?: boolean;
  readonly raw?: boolean;
}

async function diff(context: Context, asked: Parsed<typeof readDiff>, flags: DiffFlags): Promise<void> {
  const input = { ...asked, paths: asked.paths?.map((path) => fromHere(context.directory, path)) };
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  const found = await litterbox.perform(readDiff, input, { signal, onProgress: talk.progress });
  showUnsettled(talk, found);
  if (input.sinceSeen === true && found.since === undefined)
    talk.notice('Nobody has looked at all of it yet, so this is everything.');
  if (talk.json || flags.stat || flags.nameOnly) {
    const changes = await found.files();
    if (talk.json) return talk.document(changes); // names and counts, as --stat: nobody saw what is in the files
    const shown = flags.nameOnly
      ? changes.map(({ path }) => visibleName(path))
      : [...statLines(talk, changes, process.stdout), ...(changes.length > 0 ? [totals(changes)] : [])];
    await showPaged(context, shown, 'No changes.');
    return noteNothingAt(talk, input.paths, changes.length === 0);
  }
  const isForPerson = process.stdout.isTTY && flags.raw !== true;
  if (!isForPerson) {
    let isEmpty = true;
    // Whoever keeps it may apply it.
    for await (const bytes of found.patch(true)) {
      isEmpty = false;
      if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
    }
    return noteNothingAt(talk, input.paths, isEmpty);
  }
  if (input.revision === undefined) {
    const { sandbox } = input;
    try {
      const plan = await litterbox.perform(planIntegration, { sandbox, integration: 'merge' }, { signal });
      for (const line of passingLines(plan)) talk.notice(line);
      showRisky(talk, plan.risky, sandbox);
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      talk.notice(`Files that can run code are not listed. ${visible(error.message)}`);
    }
  }
  await showPaged(context, diffLines(talk, found.patch()), 'No changes.');
  await found.markShown(); // who leaves the pager early has seen what they wanted to
}

/** A path that is misspelt looks as one at which nothing changed. A terminal says so anyway. */
function noteNothingAt(talk: Talk, paths: readonly string[] = [], isEmpty: boolean): void {
  if (isEmpty && paths.length > 0 && !process.stdout.isTTY)
    talk.notice(`No changes at ${paths.slice(0, 5).map(nameOf).join(', ')}${paths.length > 5 ? ' …' : ''}.`);
}

export interface IntegrateFlags {
  readonly dryRun?: boolean;
}

async function apply(
  context: Context,
  input: Parsed<typeof applyChanges>,
  flags: IntegrateFlags & { readonly patch?: boolean },
): Promise<void> {
  const { paths = [], ...rest } = input;
  // After --: of git merge.
  const hasArguments = paths[0]?.startsWith('-') === true;
  const places = paths.map((path) => fromHere(context.directory, path));
  const words = hasArguments ? { arguments: paths } : { paths: places };
  if (!flags.patch) return await integrate(context, 'apply', { ...rest, ...words }, flags);
  if (hasArguments) throw noArguments();
  const taken = await takeParts(context, { ...rest, paths: places });
  if (taken) await integrate(context, 'apply', { ...rest, ...taken }, flags);
}

const noArguments = () =>
  new LitterboxError('INVALID_ARGUMENT', 'Choosing change by change takes no arguments of git merge.', {
    operation: 'cli.apply',
    hint: 'Leave out -p, or what stands behind --.',
  });

async function merge(context: Context, input: Parsed<typeof mergeChanges>, flags: IntegrateFlags): Promise<void> {
  await integrate(context, 'merge', input, flags);
}

async function integrate(
  context: Context,
  integration: Integration,
  input: Parsed<typeof applyChanges>,
  { dryRun = false }: IntegrateFlags,
): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.settled();
  const isPart = (input.paths?.length ?? 0) + (input.parts?.length ?? 0) > 0;
  if (dryRun) {
    const plan = await litterbox.perform(planIntegration, { ...input, integration }, { signal });
    // As the merge itself would end.
    if (plan.conflicts.length > 0) process.exitCode = ERROR_CODES.CONFLICT;
    else if (plan.dirtyOverlap.length > 0 && input.autostash !== true) process.exitCode = ERROR_CODES.DIRTY_WORKTREE;
    if (talk.json) return talk.document(planDocument(plan));
    return showPlan(talk, plan, true, isPart);
  }
  const agent = talk.json ? undefined : await lastAgentCall(litterbox, input.sandbox, signal);
  const operation = integration === 'merge' ? mergeChanges : applyChanges;
  const show = (plan: ShownPlan, hasRisky: boolean) =>
    showPlan(talk, input.autostash === true ? { ...plan, dirtyOverlap: [] } : plan, hasRisky, isPart);
  const result = await litterbox.perform(operation, input, {
    signal,
    onProgress: talk.progress,
    // Where a person is asked, the question shows the files.
    onPlan: (plan) => void (!talk.json && show(plan, input.acceptRisky === true || !isAtTerminal())),
    ...(isAtTerminal() && { onUnseen: async (patch, part) => await showUnseen(context, patch, part) }),
  });
  if (talk.json) talk.document(operation.document?.(result));
  if (result.outcome === 'conflicts') {
    throw new LitterboxError(
      'CONFLICT',
      `${result.conflicts.length === 1 ? 'One file conflicts' : `${result.conflicts.length} files conflict`}: ${result.conflicts.slice(0, 5).map(nameOf).join(', ')}.`,
      {
        operation: `cli.${integration}`,
        hint: 'Resolve them and git commit, or go back: git merge --abort. The sandbox is still there.',
        facts: { conflicts: result.conflicts },
      },
    );
  }
  if (talk.json) return requireStashBack(integration, result.conflicts);
  const said = {
    committed: `${integration === 'merge' ? 'Merged' : 'Committed'} as ${result.commit?.slice(0, 10)}.`,
    staged: 'The changes are staged: review them and git commit.',
    'up-to-date': `Nothing to do: your ${result.plan.already ? 'work tree' : 'branch'} has it all.`,
  }[result.outcome];
  const stays =
    result.outcome === 'up-to-date' && integration === 'merge' ? ` The sandbox ${input.sandbox} stays.` : '';
  talk.notice(said + (result.isDeleted ? ` The sandbox ${input.sandbox} is deleted.` : stays));
  if (result.isDeleted && agent !== undefined) talk.notice(agent);
  if (result.agent !== undefined) talk.notice(`The sandbox ${input.sandbox} stays: ${result.agent} is at work in it.`);
  if (result.unrecorded)
    talk.notice(
      `The sandbox ${input.sandbox} stays, because it alone has what could not be recorded: ${unrecordedNames(result.unrecorded)}. Give it up: litterbox delete ${input.sandbox} --force.`,
    );
  requireStashBack(integration, result.conflicts);
}

async function showUnseen(context: Context, ...[patch, part]: Parameters<ShowUnseen>): Promise<void> {
  context.talk.notice(part === 'all' ? 'Nobody has looked at these changes yet.' : 'Since you looked:');
  const shown = diffLines(context.talk, patch);
  if (process.stdout.isTTY && !context.talk.json) return await showPaged(context, shown, 'No changes.');
  // stdout is for a program; the person who is asked reads stderr.
  for await (const line of shown) await passOn({ type: 'stderr-data', bytes: Buffer.from(`${line}\n`) });
}

/** @throws LitterboxError `CONFLICT` when edits that were put aside did not go back without conflicts. */
function requireStashBack(integration: Integration, conflicts: readonly string[]): void {
  if (conflicts.length === 0) return;
  throw new LitterboxError(
    'CONFLICT',
    `The changes are in, but putting your own edits back conflicts: ${conflicts.slice(0, 5).map(nameOf).join(', ')}. Your edits are safe in git stash.`,
    {
      operation: `cli.${integration}`,
      hint: 'Resolve the files and run git stash drop. Or take the result as it is, with git checkout --ours and git add, and run git stash pop later.',
      facts: { conflicts },
    },
  );
}

function showPlan(talk: Talk, plan: ShownPlan, hasRisky: boolean, isPart: boolean): void {
  showUnsettled(talk, plan);
  talk.notice(
    `${plan.slug} at ${plan.tip.slice(0, 10)} into ${plan.headRef?.replace(/^refs\/heads\//, '') ?? plan.head.slice(0, 10)}:`,
  );
  if (plan.unmergedBase) talk.notice(`  ${baseLine(plan.unmergedBase)}`);
  for (const line of statLines(talk, plan.changes.slice(0, 20), process.stderr)) talk.notice(line);
  if (plan.changes.length === 0) talk.notice('  No changes.');
  if (plan.changes.length > 20) talk.notice(`  … and ${plan.changes.length - 20} more`);
  for (const line of workTreeLines(plan)) talk.notice(`  ${line}`);
  if (plan.conflicts.length > 0)
    talk.notice(talk.paint('red', `  conflicts: ${plan.conflicts.map(nameOf).join(', ')}`, process.stderr));
  for (const line of [
    ...unmilestonedLines(plan),
    ...passingLines(plan),
    ...halfRenameLines(plan),
    ...messageLines(plan),
    ...notFollowedLines(plan),
  ])
    talk.notice(`  ${line}`);
  for (const line of proofLines(talk, plan.proof, plan.slug, isPart)) talk.notice(`  ${line}`);
  if (hasRisky) showRisky(talk, plan.risky, plan.slug);
}

/** Files of the person's that are there already, or in the way. */
function workTreeLines({ already = [], dirtyOverlap }: IntegrationPlan): readonly string[] {
  const named = (paths: readonly string[]) =>
    `${paths.slice(0, 5).map(nameOf).join(', ')}${paths.length > 5 ? ' …' : ''}`;
  return [
    ...(already.length > 0 ? [`In your work tree already: ${named(already)}.`] : []),
    ...(dirtyOverlap.length > 0
      ? [`Changes of yours are in the way: ${named(dirtyOverlap)}. Commit or stash them, or add --autostash.`]
      : []),
  ];
}

function unmilestonedLines({ slug, unmilestoned }: IntegrationPlan): readonly string[] {
  if (unmilestoned === 0) return [];
  const came = unmilestoned === 1 ? 'One revision came' : `${unmilestoned} revisions came`;
  return [`${came} after the last milestone: the branch litterbox/${slug} is not all of it.`];
}

/** What the history gets beside the diff. */
function passingLines({ slug, passing = [] }: IntegrationPlan): readonly string[] {
  if (passing.length === 0) return [];
  const named = passing.slice(0, 5).map(nameOf).join(', ');
  const files = passing.length === 1 ? 'One file is' : `${passing.length} files are`;
  return [
    `${files} in a commit on the way and not in the last one: ${named}${passing.length > 5 ? ' …' : ''}. To see all: litterbox log ${slug} -p. To leave them out of the history: litterbox merge ${slug} -- --squash.`,
  ];
}

function halfRenameLines({ halfRenames = [] }: IntegrationPlan): readonly string[] {
  const said = halfRenames
    .slice(0, 5)
    .map(({ from, to, taken }) =>
      taken === 'to'
        ? `${nameOf(to)} was ${nameOf(from)}, which stays beside it. To take both, name both.`
        : `${nameOf(from)} became ${nameOf(to)}, which is not taken: the file is under neither name then. To take both, name both.`,
    );
  const left = halfRenames.length - said.length;
  return left > 0 ? [...said, `… and ${left} more`] : said;
}

/** Lines of messages that a plan shows; the rest is counted. */
const MAX_MESSAGE_LINES = 20;

/** The words that go into the person's history, in their name. */
function messageLines({ messages }: IntegrationPlan): readonly string[] {
  if (messages.length === 0) return [];
  const all = messages.flatMap((message) =>
    message
      .trimEnd()
      .split('\n')
      .map((line, index) => `${index === 0 ? '- ' : '  '}${visible(line)}`),
  );
  const left = all.length - MAX_MESSAGE_LINES;
  const title = messages.length === 1 ? 'Message of the commit:' : `Messages of the ${messages.length} commits:`;
  return [title, ...all.slice(0, MAX_MESSAGE_LINES), ...(left > 0 ? [`… and ${left} more lines`] : [])];
}

function notFollowedLines({ slug, notFollowed }: IntegrationPlan): readonly string[] {
  if (!notFollowed) return [];
  const { hooks, filters = [], mergeOptions } = notFollowed;
  const way = `to have them run: litterbox apply ${slug}, then git commit`;
  return [
    ...(hooks.length > 0 ? [`Your hooks do not run (${hooks.join(', ')}); ${way}.`] : []),
    ...(filters.length > 0
      ? [
          `Your filters do not run (${filters.map((name) => visibleName(name)).join(', ')}); to have them run: litterbox apply ${slug}, then git add --renormalize FILES.`,
        ]
      : []),
    ...(mergeOptions !== undefined
      ? [`The mergeOptions of this branch are not followed: ${visible(mergeOptions)}.`]
      : []),
  ];
}

function baseLine({ commits, headRef }: NonNullable<IntegrationPlan['unmergedBase']>): string {
  const began =
    headRef === undefined
      ? 'The sandbox began at'
      : `The sandbox began on ${nameOf(headRef.replace(/^refs\/heads\//, ''))}, with`;
  const those =
    commits === 1 ? 'a commit that is not in this branch' : `${commits} commits that are not in this branch`;
  return `${began} ${those}: only its own changes are taken.`;
}

export function showRisky(talk: Talk, risky: readonly RiskyChange[], slug: string): void {
  if (risky.length === 0) return;
  talk.notice(talk.paint('red', 'Can run code, or hides what it holds:', process.stderr));
  for (const line of riskLines(risky)) talk.notice(talk.paint('red', `  ${line}`, process.stderr));
  if (groupedRisks(risky).unlisted > 0) talk.notice(`  all: litterbox merge ${slug} --dry-run --json`);
}

/** Last, where it is seen: a long list scrolls its beginning away. */
function totals(changes: readonly FileChange[]): string {
  const sum = (count: (change: FileChange) => number | undefined) =>
    changes.reduce((total, change) => total + (count(change) ?? 0), 0);
  const binary = changes.filter((change) => change.binary).length;
  const files = changes.length === 1 ? 'one file' : `${changes.length} files`;
  return `  ${files}, +${sum(({ addedLines }) => addedLines)} -${sum(({ removedLines }) => removedLines)}${binary === 0 ? '' : `, ${binary} binary`}`;
}

async function* lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const bytes of source) {
    const parts = (rest + decodeRaw(bytes)).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest !== '') yield rest;
}

export const presented = {
  'sandbox-log': { operation: readLog, present: log },
  'sandbox-diff': { operation: readDiff, present: diff },
  'sandbox-apply': { operation: applyChanges, present: apply },
  'sandbox-merge': { operation: mergeChanges, present: merge },
} as const;
