import { decodeRaw, type PastCall, type PastOutput, readCall, visible, visibleName } from '@litterbox/core';
import type { Context } from '../context.ts';
import { showPaged } from '../show-paged.ts';
import { ago } from '../terminal/table.ts';
import type { Talk } from '../terminal/talk.ts';

/** Shows one call of a sandbox: how it ended, and what it printed. */
export async function showCall(context: Context, sandbox: string, call: string): Promise<void> {
  const litterbox = await context.litterbox();
  const found = await litterbox.perform(readCall, { sandbox, call }, { signal: context.signal });
  if (context.talk.json) return context.talk.document(readCall.document?.(found));
  await showPaged(context, callLines(context.talk, found), '');
}

/** The lines of a call for a person: hostile bytes made harmless, and every gap named. A line that is not indented is ours. */
export function callLines(talk: Pick<Talk, 'paint'>, past: PastCall): readonly string[] {
  const { call, subject, atMs, actor, callId, exitCode, outcome, durationMs, revision, printed } = past;
  const facts = [
    outcome === 'ok' ? undefined : outcome,
    exitCode === undefined ? undefined : `exit ${exitCode}`,
    durationMs === undefined ? undefined : `${(durationMs / 1000).toFixed(1)} s`,
    ago(atMs),
    `by ${visibleName(actor)}`,
    callId === undefined ? undefined : `its own id ${visibleName(callId)}`,
    revision === undefined ? 'no change' : `revision ${revision.slice(0, 10)}`,
  ];
  const line = facts.filter((fact) => fact !== undefined).join(', ');
  return [
    `call ${call}  ${indented(visible(subject))}`,
    talk.paint('dim', line),
    ...(printed === undefined ? [talk.paint('dim', unkept(past))] : printedLines(talk, printed)),
  ];
}

const INDENT = '  ';
const indented = (text: string) => text.replaceAll('\n', `\n${INDENT}`);

function unkept({ outcome }: PastCall): string {
  if (outcome === 'running') return 'It has not ended yet: what it prints is kept when it ends.';
  if (outcome === 'unknown') return 'The program that ran it was killed: what it had printed is lost.';
  return 'What it printed was not kept.';
}

function printedLines(
  talk: Pick<Talk, 'paint'>,
  { stdout, stderr }: NonNullable<PastCall['printed']>,
): readonly string[] {
  if (!stdout && !stderr) return [talk.paint('dim', 'It printed nothing.')];
  const out = stdout ? outputLines(talk, stdout) : [];
  if (!stderr) return ['', ...out];
  return ['', ...out, ...(stdout ? [''] : []), talk.paint('dim', 'Printed to stderr:'), ...outputLines(talk, stderr)];
}

function outputLines(talk: Pick<Talk, 'paint'>, output: PastOutput): readonly string[] {
  if (output.type === 'gone')
    return [
      talk.paint(
        'red',
        `${output.bytes} bytes are not there: they made room for later ones, or the program ended before it wrote them.`,
      ),
    ];
  const { bytes, cutAt, droppedBytes } = output;
  if (droppedBytes === 0) return linesOf(bytes);
  const gap = talk.paint('red', `[${droppedBytes} bytes left out: only the beginning and the end are kept]`);
  return [...linesOf(bytes.subarray(0, cutAt)), gap, ...linesOf(bytes.subarray(cutAt))];
}

function linesOf(bytes: Uint8Array): readonly string[] {
  const text = decodeRaw(bytes).replaceAll('\r\n', '\n');
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  return lines.map((line) => INDENT + visible(line));
}
