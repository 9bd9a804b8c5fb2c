import {
  checkMachine,
  type Control,
  explain as explainSandbox,
  LitterboxError,
  type Parsed,
  LOCAL_HOST,
  originText,
  parseProviderKey,
  placementLines,
  type ProbeReport,
  readAudit,
  type ResourceUsage,
  type SandboxRecord,
  trustConfig,
  trustSummary,
  upstreamProxyOf,
  verifyAudit,
  visible,
  visibleName,
} from '@litterbox/core';
import { askOrCancel } from '../terminal/ask.ts';
import type { Context } from '../context.ts';
import { processorTime } from '../inside/cost.ts';
import { showPaged } from '../show-paged.ts';
import { ago, bytes, table } from '../terminal/table.ts';
import type { Talk } from '../terminal/talk.ts';

async function explain(context: Context, input: Parsed<typeof explainSandbox>): Promise<void> {
  const { talk, signal } = context;
  const explanation = await (await context.litterbox()).perform(explainSandbox, input, { signal });
  if (talk.json) return talk.document(explainSandbox.document?.(explanation));
  if ('providers' in explanation) {
    const chosen = explanation.providers.find(({ report }) => report.usable);
    talk.result(
      chosen
        ? `New sandboxes run on ${chosen.provider}, the first provider that works here.`
        : 'No provider works here; litterbox doctor says why.',
    );
    for (const { provider, report } of explanation.providers)
      for (const { name: check, status, finding } of report.checks)
        talk.result(`  ${provider}: ${check}: ${mark(talk, status)} ${visible(finding)}`);
    return;
  }
  const { record, state, shell, usage } = explanation;
  const { assurance, forkedFrom } = record;
  talk.result(
    `${record.slug}: ${record.provider}, ${visibleName(assurance?.mechanism ?? 'never started')}; workspace at ${visibleName(record.workdir)}`,
  );
  const trouble = TROUBLES[state];
  if (trouble !== undefined) talk.result(`it is ${talk.paint('red', state)}: ${trouble}`);
  const { host } = parseProviderKey(record.provider);
  for (const line of placedLines(record)) talk.result(line);
  if (forkedFrom !== undefined) talk.result(`it began as a copy of ${forkedFrom}`);
  if (shell !== undefined)
    talk.result(`${shell} runs the text of commands${shell === 'sh' ? ', because there is no bash inside' : ''}`);
  if (usage !== undefined) for (const line of usageLines(usage)) talk.result(line);
  if (!assurance) return;
  for (const control of assurance.controls) talk.result(controlLine(talk, control));
  for (const line of networkLines(record)) talk.result(line);
  for (const { name, variable, origin } of record.policy.exposed ?? [])
    talk.result(
      `Commands hold the secret ${name} in ${variable}, from ${visible(originText(origin))}; its value is in no output`,
    );
  talk.result(
    `Readable inside, of ${host === LOCAL_HOST ? 'this machine' : host}:${assurance.readable.length === 0 ? ' nothing' : ''}`,
  );
  for (const { path, reason } of assurance.readable) talk.result(`  ${visibleName(path)}: ${visible(reason)}`);
  const { masked = [], unreachable = [] } = assurance;
  if (masked.length > 0) talk.result('Empty inside, because they may hold credentials:');
  for (const path of masked) talk.result(`  ${visibleName(path)}`);
  if (unreachable.length > 0)
    talk.result(
      'Programs in PATH that do not run inside, because they are links to files that the sandbox cannot read:',
    );
  for (const { path, target } of unreachable) talk.result(`  ${visibleName(path)} -> ${visibleName(target)}`);
}

/** What runs now. A runtime that cannot tell a number has no words for it. */
function usageLines(usage: ResourceUsage): readonly string[] {
  const { processes, memoryBytes, diskBytes } = usage;
  const parts = [
    ...(processes === undefined ? [] : [`${processes} ${processes === 1 ? 'process' : 'processes'}`]),
    ...(memoryBytes === undefined ? [] : [`${bytes(memoryBytes)} of memory`]),
    ...(diskBytes === undefined ? [] : [`${bytes(diskBytes)} of disk`]),
  ];
  const processor = processorTime(usage);
  return [
    ...(parts.length === 0 ? [] : [`In use now: ${parts.join(', ')}`]),
    ...(processor === '' ? [] : [`Used until now: ${processor} of processor time`]),
  ];
}

/** Why the sandbox is on its machine, where there was a choice. */
function placedLines({ placement, createdAtMs }: SandboxRecord): readonly string[] {
  if (!placement) return [];
  return [`Litterbox chose its host ${ago(createdAtMs)}:`, ...placementLines(placement).map((line) => `  ${line}`)];
}

/** States in which nothing can be done in a sandbox, and what then. */
const TROUBLES: Readonly<Record<string, string>> = {
  missing: 'litterbox recover rebuilds it from its last revision',
  slow: 'its engine or machine did not answer in time and may only be busy: try again. The sandbox has not been changed',
  unreachable:
    'its engine or machine cannot be reached; the sandbox has not been changed. Details: litterbox doctor. If the machine is gone for good: litterbox delete NAME --forget',
  error: 'its files are damaged, or its provider cannot read them',
};

/** What is open on purpose. Nothing for a sandbox without a way out. */
function networkLines({
  policy: { network },
  provider,
}: Pick<SandboxRecord, 'policy' | 'provider'>): readonly string[] {
  const { setup, run, allow = [], allowPrivate = [], deny = [], isWithheld, from = 'there' } = network;
  const { host } = parseProviderKey(provider);
  const isElsewhere = host !== LOCAL_HOST;
  const withheld = isWithheld ? ['The setup had no network, because an agent made the base.'] : [];
  if (setup === 'none' && run === 'none') return withheld;
  const phase = setup === 'none' ? 'commands' : run === 'none' ? 'the setup alone' : 'setup and commands';
  const rules = (list: readonly string[]) => (list.length === 0 ? 'nothing' : list.map(visible).join(', '));
  return [
    ...withheld,
    `Reachable by ${phase}, over HTTPS through the proxy outside: ${rules(allow)}`,
    ...(allowPrivate.length > 0 ? [`  also in a private network: ${rules(allowPrivate)}`] : []),
    ...(deny.length > 0 ? [`  but not: ${rules(deny)}`] : []),
    ...(isElsewhere
      ? [`  from ${from === 'there' ? `its machine, ${visible(host)}` : 'this machine'} (network.from)`]
      : []),
    ...(isElsewhere && from === 'there' ? [] : proxyLine()),
  ];
}

function proxyLine(): readonly string[] {
  try {
    const proxy = upstreamProxyOf(process.env);
    if (!proxy) return [];
    const { host, port } = proxy;
    return [
      `  through your own proxy ${visible(`${host}:${port}`)} (HTTPS_PROXY). It looks the names up, so Litterbox cannot check that none leads into your network`,
    ];
  } catch (error) {
    return [`  not at the moment: ${(error as Error).message}`];
  }
}

function controlLine(talk: Talk, { name, status, finding, remedy }: Control): string {
  const paint = { enforced: 'green', weak: 'yellow', absent: 'red' } as const;
  return `  ${talk.paint(paint[status], status.padEnd(8))}  ${name}: ${visible(finding)}${remedy === undefined ? '' : ` (${visible(remedy)})`}`;
}

const mark = (talk: Talk, status: 'ok' | 'warning' | 'failed') =>
  talk.paint(({ ok: 'green', warning: 'yellow', failed: 'red' } as const)[status], status);

/** A sandbox can be made now, without a person's leave. */
const isReady = ({ usable, checks }: ProbeReport): boolean => usable && !checks.some(({ isRefused }) => isRefused);

function verdict(talk: Talk, report: ProbeReport): string {
  if (isReady(report)) return talk.paint('green', 'usable');
  if (report.usable) return talk.paint('yellow', 'needs one step');
  const isSlow = report.checks.every(({ status }) => status === 'warning'); // nothing failed: it has not said anything yet
  return isSlow ? talk.paint('yellow', 'slow to answer') : talk.paint('red', 'not usable');
}

async function doctor(context: Context, input: Parsed<typeof checkMachine>): Promise<void> {
  const { talk, signal } = context;
  const reports = await (await context.litterbox()).perform(checkMachine, input, { signal, onProgress: talk.progress });
  const isUsable = reports.some(({ report }) => report.usable);
  if (talk.json) talk.document({ node: process.version, ...Object(checkMachine.document?.(reports)) });
  else {
    talk.result(`node ${process.version}: ${mark(talk, 'ok')}`);
    for (const { provider, report } of reports) {
      if (isUsable && report.checks.some(({ isAbsent }) => isAbsent)) {
        talk.result(`${provider}: ${talk.paint('dim', 'not installed')}`);
        continue;
      }
      talk.result(`${provider}: ${verdict(talk, report)}`);
      for (const { name, status, finding, remedy } of report.checks)
        talk.result(
          `  ${mark(talk, status)} ${name}: ${visible(finding)}${remedy === undefined ? '' : `\n    ${talk.paint('cyan', '→')} ${visible(remedy)}`}`,
        );
    }
  }
  const chosen = reports.find(({ report }) => report.usable); // by a create that names none
  if (chosen && !isReady(chosen.report)) process.exitCode = 1;
  if (!isUsable)
    throw new LitterboxError('UNAVAILABLE', `No provider works on ${input.host ?? 'this machine'}.`, {
      operation: 'cli.doctor',
      hint: 'Follow the steps above.',
    });
}

/** A yes to what was not shown has to know how much that is. */
function questionOf(unseenCount: number): string {
  if (unseenCount === 0) return 'Agree to this for this repository?';
  const what = unseenCount === 1 ? '1 line that is' : `${unseenCount} lines that are`;
  return `Agree to this for this repository, and to ${what} not shown here or not whole (litterbox trust --show)?`;
}

async function trust(
  context: Context,
  _input: Parsed<typeof trustConfig>,
  options: { readonly show?: boolean; readonly yes?: boolean },
): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  const { trustText, contentHash, isTrusted, warnings } = await litterbox.perform(trustConfig, {}, { signal });
  for (const warning of warnings) talk.warning(warning);
  const wants = trustText.split('\n').filter((line) => line !== '');
  // Who asks for all, or for no question, gets all. Who is asked reads a text that fits on a screen.
  const { lines, unseenCount } =
    options.show || options.yes || wants.length === 0 ? { lines: wants, unseenCount: 0 } : trustSummary(wants);
  if (!talk.json) for (const line of lines) talk.result(visible(line));
  if (isTrusted || options.show) {
    if (talk.json) talk.document({ wants, isTrusted });
    else
      talk.notice(
        wants.length === 0
          ? '.litterbox.toml asks for nothing that needs trust.'
          : isTrusted
            ? 'You have agreed to this.'
            : 'You have not agreed to this.',
      );
    return;
  }
  const isAgreed =
    options.yes === true || (await askOrCancel.approve({ question: questionOf(unseenCount), details: [] }, { signal }));
  if (!isAgreed)
    throw new LitterboxError('CONFIG_UNTRUSTED', 'Nobody agreed.', {
      operation: 'cli.trust',
      hint: 'Run litterbox trust in a terminal, or with --yes.',
    });
  const after = await litterbox.perform(trustConfig, { contentHash }, { signal });
  if (!after.isTrusted)
    throw new LitterboxError('CONFLICT', '.litterbox.toml changed while you were reading it.', {
      operation: 'cli.trust',
      hint: 'Read it again: litterbox trust.',
    });
  if (talk.json) talk.document({ wants, isTrusted: true });
  else talk.notice('Agreed.');
}

async function audit(
  context: Context,
  input: Parsed<typeof readAudit>,
  { verify = false }: { readonly verify?: boolean },
): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  if (verify) {
    const result = await litterbox.perform(verifyAudit, {}, { signal });
    if (talk.json) return talk.document(verifyAudit.document?.(result));
    return talk.notice(`The audit log is intact: ${result.entries} entries.`);
  }
  const entries = await litterbox.perform(readAudit, input, { signal });
  if (talk.json) return talk.document(entries);
  const rows = entries.map(({ sequence, atMs, actor, operation, outcome, input, durationMs }) => [
    String(sequence),
    ago(atMs),
    actor,
    operation,
    outcome,
    durationMs === undefined ? '' : `${Math.round(durationMs)} ms`,
    visibleName(inputOf(input), 120),
  ]);
  const header = ['#', 'WHEN', 'WHO', 'WHAT', 'OUTCOME', 'TOOK', 'INPUT'];
  const lines = rows.length === 0 ? [] : table(header, rows, process.stdout.isTTY).split('\n');
  await showPaged(context, lines, 'The audit log is empty.');
}

/** What an entry is about, and of a connection why it was refused or where it led. */
function inputOf(input: Readonly<Record<string, unknown>>): string {
  const { command, path, name, host, reason, address, isPrivate, proxy, from } = input;
  const about = [command, path, name, host].find((value) => typeof value === 'string') ?? '';
  if (about !== host) return about.slice(0, 60);
  if (isPrivate === true && typeof address === 'string') return `${host} (private network, ${address})`;
  if (typeof proxy === 'string') return `${host} (by ${proxy})`;
  if (typeof from === 'string') return `${host} (from ${from})`;
  return typeof reason === 'string' ? `${host} (${reason})` : host;
}

export const presented = {
  'sandbox-explain': { operation: explainSandbox, present: explain },
  'machine-check': { operation: checkMachine, present: doctor },
  'config-trust': { operation: trustConfig, present: trust },
  'audit-list': { operation: readAudit, present: audit },
} as const;
