import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { toolOf } from '../../domain/sandbox/revision-message.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { LogEntry, Revision, SandboxHistories } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/**
 * The revision whose files a sandbox had before its last change; 0 is the base. A revision that went back counts as the one that it went
 * back to, so that every further undo goes one change further.
 *
 * @throws LitterboxError `NOTHING_TO_DO` when the sandbox has the files that it began with
 */
export async function revisionBefore(
  histories: SandboxHistories,
  { id, slug }: SandboxRecord,
  options?: CallOptions,
): Promise<Revision> {
  const { base, tip } = await histories.history(id, options);
  let position = tip.number;
  for await (const entry of histories.log(id, { signal: options?.signal })) {
    if (entry.number > position) continue;
    const target = wentBackTo(entry);
    if (target === undefined) break;
    position = target;
  }
  if (position > 1) return await histories.resolve(id, String(position - 1), options);
  if (position === 1) return { commit: base.commit, tree: base.tree, number: 0 };
  throw new LitterboxError('NOTHING_TO_DO', `The sandbox ${slug} has the files that it began with.`, {
    operation: 'sandbox.undo',
    hint: advice`Its revisions are all there: ${step('sandbox-log', { sandbox: slug })}, then ${step('sandbox-restore', { sandbox: slug })}.`,
  });
}

/** Only a trailer says who made a revision: a caller's own message may begin with the same words. */
function wentBackTo({ number, subject, trailers }: LogEntry): number | undefined {
  const tool = toolOf({ trailers });
  if (tool !== 'restore' && tool !== 'undo') return undefined;
  const [, digits] = new RegExp(`^${tool}: revision (\\d{1,9})$`).exec(subject) ?? [];
  const target = digits === undefined ? number : Number(digits);
  return target < number ? target : undefined;
}
