import { blameFile, visible, visibleName } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** Which call wrote the changed lines of a file, as runs of lines. */
export async function readBlame(litterbox: Performer, sandbox: string, path: string, signal: AbortSignal) {
  const { tip, changes, unsettled } = await litterbox.perform(blameFile, { sandbox, path }, { signal });
  return {
    tip,
    unsettled: unsettled === undefined ? undefined : visible(unsettled),
    runs: changes.map(({ firstLine, lines, made }) => ({
      firstLine,
      lines: lines.length,
      revision: made.number,
      call: made.call,
      exitCode: made.exitCode,
      actor: made.actor === undefined ? undefined : visibleName(made.actor),
      subject: visibleName(made.command ?? made.subject, 300),
    })),
  };
}
