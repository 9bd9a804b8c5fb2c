import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  decodeRaw,
  type FileChange,
  type Integration,
  type IntegrationPlan,
  LitterboxError,
  type LogEntry,
  visible,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { flag } from '../flags.ts';
import { ago } from '../table.ts';
import type { Talk } from '../talk.ts';

export async function log(
  context: Context,
  name: string,
  options: { readonly number?: string; readonly patch?: boolean },
): Promise<void> {
  const { talk, signal } = context;
  const limit = flag.count('--number', options.number);
  const litterbox = await context.litterbox();
  const entries: LogEntry[] = [];
  for await (const entry of litterbox.log(name, { signal, ...(limit !== undefined && { limit }) })) entries.push(entry);
  if (talk.json) return talk.document(entries);
  for (const { number, commit, atMs, subject, body, milestone } of entries) {
    talk.result(
      `${talk.paint('yellow', String(number).padStart(4))}  ${visible(subject)}  ${talk.paint('dim', `${commit.slice(0, 10)}, ${ago(atMs)}${milestone ? ', milestone' : ''}`)}`,
    );
    if (!options.patch) continue;
    if (body !== '') talk.result(visible(body).replace(/^/gm, '      '));
    for await (const line of lines(litterbox.diff(name, { signal, revision: commit })))
      talk.result(coloured(talk, visible(line)));
  }
}

export interface DiffFlags {
  readonly stat?: boolean;
  readonly nameOnly?: boolean;
  readonly revision?: string;
  readonly raw?: boolean;
}

export async function diff(
  context: Context,
  name: string,
  paths: readonly string[],
  options: DiffFlags,
): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  const scope = {
    signal,
    ...(paths.length > 0 && { paths }),
    ...(options.revision !== undefined && { revision: options.revision }),
  };
  if (talk.json || options.stat || options.nameOnly) {
    const changes = await litterbox.changes(name, scope);
    if (talk.json) return talk.document(changes);
    for (const change of changes) talk.result(options.nameOnly ? visible(change.path) : stat(talk, change));
    return;
  }
  const isForPerson = process.stdout.isTTY && options.raw !== true;
  if (!isForPerson) {
    for await (const bytes of litterbox.diff(name, scope))
      if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
    return;
  }
  if (options.revision === undefined)
    showRisky(talk, await litterbox.plan({ sandbox: name, integration: 'merge' }, { signal }).catch(() => undefined));
  await through(pagerOf(), async (write) => {
    for await (const line of lines(litterbox.diff(name, scope))) await write(`${coloured(talk, visible(line))}\n`);
  });
}

export interface IntegrateFlags {
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly autostash?: boolean;
  readonly yesRisky?: boolean;
}

export async function integrate(
  context: Context,
  integration: Integration,
  name: string,
  words: readonly string[],
  options: IntegrateFlags,
): Promise<void> {
  const { talk, signal } = context;
  const args = words[0] === '--' ? words.slice(1) : words;
  const litterbox = await context.settled();
  const input = {
    arguments: args,
    message: options.message,
    autostash: options.autostash,
    acceptRisky: options.yesRisky,
  };
  if (options.dryRun) {
    const plan = await litterbox.plan({ ...input, sandbox: name, integration }, { signal });
    if (talk.json) return talk.document(planDocument(plan));
    return showPlan(talk, plan);
  }
  const onPlan = (plan: IntegrationPlan) => !talk.json && showPlan(talk, plan);
  const result = await litterbox[integration](
    name,
    { ...input, onPlan: (plan) => void onPlan(plan) },
    { signal, onProgress: talk.progress },
  );
  if (talk.json)
    talk.document({
      outcome: result.outcome,
      commit: result.commit,
      conflicts: result.conflicts,
      isDeleted: result.isDeleted,
      ...planDocument(result.plan),
    });
  if (result.outcome === 'conflicts') {
    throw new LitterboxError(
      'CONFLICT',
      `${result.conflicts.length === 1 ? 'One file conflicts' : `${result.conflicts.length} files conflict`}: ${result.conflicts.slice(0, 5).map(visible).join(', ')}.`,
      {
        operation: `cli.${integration}`,
        hint: 'Resolve them and git commit, or go back: git merge --abort. The sandbox is still there.',
        facts: { conflicts: result.conflicts },
      },
    );
  }
  if (talk.json) return;
  const said = {
    committed: `Merged as ${result.commit?.slice(0, 10)}.`,
    staged: 'The changes are staged: review them and git commit.',
    'up-to-date': 'Nothing to do: your branch has it all.',
  }[result.outcome];
  talk.notice(said + (result.isDeleted ? ` The sandbox ${name} is deleted.` : ''));
}

function planDocument({ tip, head, changes, conflicts, risky, dirtyOverlap, upToDate }: IntegrationPlan): object {
  return { tip, head, changes, conflicts, risky, dirtyOverlap, upToDate };
}

function showPlan(talk: Talk, plan: IntegrationPlan): void {
  talk.notice(
    `${plan.slug} at ${plan.tip.slice(0, 10)} into ${plan.headRef?.replace(/^refs\/heads\//, '') ?? plan.head.slice(0, 10)}:`,
  );
  for (const change of plan.changes.slice(0, 20)) talk.notice(stat(talk, change));
  if (plan.changes.length > 20) talk.notice(`  … and ${plan.changes.length - 20} more`);
  if (plan.conflicts.length > 0)
    talk.notice(talk.paint('red', `  conflicts: ${plan.conflicts.map(visible).join(', ')}`, process.stderr));
  showRisky(talk, plan);
}

function showRisky(talk: Talk, plan: IntegrationPlan | undefined): void {
  if (!plan || plan.risky.length === 0) return;
  talk.notice(talk.paint('red', 'Executes on your machine:', process.stderr));
  for (const { path, reasons } of plan.risky)
    talk.notice(talk.paint('red', `  ${visible(path)}: ${reasons.join('; ')}`, process.stderr));
}

function stat(talk: Talk, { path, status, addedLines, removedLines, binary }: FileChange): string {
  const letter = { added: 'A', modified: 'M', deleted: 'D', 'type-changed': 'T' }[status];
  const counts = binary
    ? 'binary'
    : `${talk.paint('green', `+${addedLines ?? 0}`)} ${talk.paint('red', `-${removedLines ?? 0}`)}`;
  return `  ${letter} ${visible(path)}  ${counts}`;
}

function coloured(talk: Talk, line: string): string {
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity|rename)/.test(line))
    return talk.paint('bold', line);
  if (line.startsWith('@@')) return talk.paint('cyan', line);
  if (line.startsWith('+')) return talk.paint('green', line);
  return line.startsWith('-') ? talk.paint('red', line) : line;
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

/** The person's pager, or none. `less` gets the options with which it shows colours and leaves short texts on the screen. */
function pagerOf(): string | undefined {
  const { LITTERBOX_PAGER: own, PAGER: common } = process.env;
  const pager = own ?? common ?? 'less';
  return pager === '' || pager === 'cat' ? undefined : pager;
}

async function through(
  pager: string | undefined,
  body: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const direct = async (text: string) => void (process.stdout.write(text) || (await once(process.stdout, 'drain')));
  if (pager === undefined) return await body(direct);
  const child = spawn('sh', ['-c', pager], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...process.env },
  });
  let isOpen = true;
  child.stdin.on('error', () => (isOpen = false)); // the person has left the pager
  const closed = once(child, 'close');
  await body(async (text) => {
    if (isOpen && !child.stdin.write(text)) await Promise.race([once(child.stdin, 'drain'), closed]);
  });
  child.stdin.end();
  await closed;
}
