import { type HistoryEntry, isLitterboxError, readDiff, readLog, testIn, visible, visibleName } from '@litterbox/core';
import type { Litterbox, Sandbox } from 'litterbox';
import type { Context } from '../context.ts';

/** An agent that has ended, as the person is told of it. */
interface Ended {
  readonly title: string;
  /** The last entry of the log before it worked. */
  readonly before: HistoryEntry | undefined;
  /** How it ended, in words that come before "and left". Absent: it was the person's own. */
  readonly how?: string;
  /** The command by which it goes on. */
  next(calls: number): string;
}

/** The log tells a hundred without; agents make more. */
const MAX_CALLS = 100_000;

/** Prints what changed, in how many calls, how the last test ended, and what to do next. */
export async function conclude(
  { talk }: Context,
  litterbox: Litterbox,
  { name }: Pick<Sandbox, 'name'>,
  { title, before, how, next }: Ended,
): Promise<void> {
  const read = await Promise.all([
    litterbox.perform(readLog, { sandbox: name, limit: MAX_CALLS }),
    litterbox.perform(readDiff, { sandbox: name }),
  ]).catch((error: unknown) => {
    if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error;
    talk.notice(error.message); // deleted meanwhile: the exit code is the agent's all the same
  });
  if (!read) return;
  const [entries, diff] = read;
  const files = await diff.files();
  const known = JSON.stringify(before);
  const found = entries.findIndex((entry) => JSON.stringify(entry) === known);
  const calls = found === -1 ? entries.length : found;
  const tested = entries
    .slice(0, calls)
    .find((entry) => testIn(entry.command ?? '') && exitCodeOf(entry) !== undefined);
  const changed = files.length === 1 ? 'one changed file' : `${files.length} changed files`;
  const lines = [
    how === undefined
      ? `${title} left ${name} with ${changed}, in ${calls === 1 ? 'one call' : `${calls} calls`}.`
      : `${title} ${how} and left ${name} with ${changed}.`,
    ...(tested ? [testLine(tested)] : []),
    ...(files.length > 0 ? [`  litterbox diff ${name}`, `  litterbox merge ${name}`] : [`  litterbox delete ${name}`]),
    `  ${next(calls)}`,
  ];
  for (const line of lines) talk.notice(line);
}

function testLine(entry: HistoryEntry): string {
  const exitCode = exitCodeOf(entry);
  const subject = visibleName(visible(entry.subject).replace(/^(?:claude|codex|pi): /, ''), 60);
  return exitCode === 0
    ? `Its last test passed: ${subject}`
    : `Its last test ended with exit code ${exitCode}: ${subject}`;
}

function exitCodeOf(entry: HistoryEntry): number | undefined {
  if (entry.type === 'call') return entry.exitCode;
  const [, code] = entry.trailers.find(([name]) => name === 'Litterbox-Exit-Code') ?? [];
  return code === undefined ? undefined : Number(code);
}
