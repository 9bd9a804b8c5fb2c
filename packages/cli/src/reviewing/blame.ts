import {
  type BlamedChange,
  blameFile,
  type FileBlame,
  type Parsed,
  traceWork,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { fromHere } from '../from-here.ts';
import { showPaged } from '../show-paged.ts';
import type { Talk } from '../terminal/talk.ts';

async function blame(context: Context, asked: Parsed<typeof blameFile>): Promise<void> {
  const { talk, signal, directory } = context;
  const input = { ...asked, path: fromHere(directory, asked.path) };
  const litterbox = await context.litterbox();
  const found = await litterbox.perform(blameFile, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(blameFile.document?.(found));
  if (found.unsettled !== undefined) talk.notice(talk.paint('yellow', visible(found.unsettled), process.stderr));
  await showPaged(context, blameLines(talk, found), 'No changed lines.');
}

/** Each run of changed lines below the call that wrote it. A line that does not begin with a number and `|` is ours. */
export function blameLines(talk: Pick<Talk, 'paint'>, { changes }: FileBlame): readonly string[] {
  const width = String(Math.max(0, ...changes.map(({ firstLine, lines }) => firstLine + lines.length - 1))).length;
  return changes.flatMap((change) => [
    talk.paint('yellow', madeBy(change)),
    ...change.lines.map((line, index) => `${String(change.firstLine + index).padStart(width + 2)} | ${visible(line)}`),
  ]);
}

function madeBy({ made: { number, subject, call, command, exitCode } }: BlamedChange): string {
  const facts = [
    `revision ${number}`,
    ...(call === undefined ? [] : [`call ${call}`]),
    ...(exitCode === undefined ? [] : [`exit ${exitCode}`]),
  ];
  return `${facts.join(', ')}: ${visibleName(command ?? subject, 100)}`;
}

/** One record, for a file or a note of git: it is JSON whoever reads it. */
async function trace({ talk, signal, ...context }: Context, input: Parsed<typeof traceWork>): Promise<void> {
  const litterbox = await context.litterbox();
  const found = await litterbox.perform(traceWork, input, { signal, onProgress: talk.progress });
  talk.endProgress();
  talk.document(traceWork.document?.(found));
  if (found.leftOut > 0) talk.notice(`${found.leftOut} changed files are not in it: too many, too large, or no text.`);
}

export const presented = {
  'sandbox-trace': { operation: traceWork, present: trace },
  'sandbox-blame': { operation: blameFile, present: blame },
} as const;
