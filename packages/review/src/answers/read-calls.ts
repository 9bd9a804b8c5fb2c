import {
  decodeRaw,
  type HistoryEntry,
  type PastOutput,
  readCall,
  readLog,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** Lines of the log that a page lists. */
const MAX_ENTRIES = 1_000;

/** The log of a sandbox, newest first: revisions, and calls that changed nothing. */
export async function readCalls(litterbox: Performer, sandbox: string, signal: AbortSignal) {
  const entries = await litterbox.perform(readLog, { sandbox, limit: MAX_ENTRIES }, { signal });
  return { entries: entries.map(shownEntry), isMore: entries.length === MAX_ENTRIES };
}

function shownEntry(entry: HistoryEntry) {
  const { atMs, call, actor, exitCode, command, subject } = entry;
  return {
    atMs,
    call,
    exitCode,
    actor: actor === undefined ? undefined : visibleName(actor),
    subject: visible(command ?? subject),
    ...(entry.type === 'revision'
      ? { revision: entry.number, commit: entry.commit, isMilestone: entry.milestone }
      : { outcome: entry.outcome }),
  };
}

/** One call with what it printed; every gap in that is a number of bytes. */
export async function readOneCall(litterbox: Performer, sandbox: string, call: string, signal: AbortSignal) {
  const past = await litterbox.perform(readCall, { sandbox, call }, { signal });
  const { stdout, stderr } = past.printed ?? {};
  return {
    call: past.call,
    atMs: past.atMs,
    subject: visible(past.subject),
    actor: visibleName(past.actor),
    callId: past.callId === undefined ? undefined : visibleName(past.callId),
    outcome: past.outcome,
    exitCode: past.exitCode,
    durationMs: past.durationMs,
    revision: past.revision,
    isKept: past.printed !== undefined,
    stdout: stdout && shownOutput(stdout),
    stderr: stderr && shownOutput(stderr),
  };
}

function shownOutput(output: PastOutput) {
  if (output.type === 'gone') return { goneBytes: output.bytes };
  const { bytes, cutAt, droppedBytes } = output;
  if (droppedBytes === 0) return { head: shownText(bytes) };
  return { head: shownText(bytes.subarray(0, cutAt)), droppedBytes, tail: shownText(bytes.subarray(cutAt)) };
}

/** A terminal's colours say nothing here, and would make every line unreadable as escapes. */
const COLOUR = /\u001b\[[\d;:]*m/g;
const shownText = (bytes: Uint8Array) => visible(decodeRaw(bytes).replaceAll('\r\n', '\n').replace(COLOUR, ''));
