import { deleteSandbox, type Parsed, type Racer, raceForks } from '@litterbox/core';
import { askAtTerminal, isAtTerminal } from '../ask.ts';
import type { Context } from '../context.ts';
import { table } from '../table.ts';
import { withToldForks } from '../with-told-forks.ts';
import { presented as review } from './review.ts';

interface RaceFlags {
  readonly yes?: boolean;
}

async function race(context: Context, input: Parsed<typeof raceForks>, { yes = false }: RaceFlags): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.settled();
  const raced = await withToldForks(talk, (onFork) =>
    litterbox.perform(raceForks, input, { signal, onProgress: talk.progress, onFork }),
  );
  const { racers, winner, unmade } = raced;
  for (const { error } of unmade) talk.warning(error.message);
  for (const { record, error } of racers) if (error) talk.warning(`${record.slug}: ${error.message}`);
  if (talk.json) talk.document(raceForks.document?.(raced));
  else talk.result(table(['NAME', 'JUDGE', 'SCORE', 'CHANGES', 'WORK'], racers.map(row), process.stdout.isTTY));
  if (winner === undefined) {
    talk.notice(`The judge passed none of them. What one printed is told by: litterbox run NAME '${input.judge}'.`);
    process.exitCode = 1;
    return;
  }
  if (!talk.json) {
    if (process.stdout.isTTY) await review['sandbox-diff'].present(context, { sandbox: winner }, {});
    talk.notice(`${winner} won. Look: litterbox diff ${winner}. Take it: litterbox merge ${winner}.`);
  }
  const others = racers.map(({ record }) => record.slug).filter((slug) => slug !== winner);
  if (others.length > 0) await removeOthers(context, others, yes);
}

async function removeOthers(context: Context, others: readonly string[], isAgreed: boolean): Promise<void> {
  const { talk, signal } = context;
  const names = others.join(' ');
  if (!isAgreed && !(isAtTerminal() && (await askAtTerminal.approve({ question: `Delete ${names}?`, details: [] }))))
    return talk.notice(`The others stay. Delete them: litterbox delete ${names} --force.`);
  const litterbox = await context.settled();
  for (const sandbox of others) await litterbox.perform(deleteSandbox, { sandbox, force: true }, { signal });
  talk.notice(`Deleted ${names}.`);
}

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

function row({ record, isPassed, score, changedFiles, changedLines, work, judgement }: Racer): string[] {
  const judged = judgement ? (isPassed ? 'passed' : `exit ${judgement.exit.code}`) : 'did not run';
  return [
    record.slug,
    judged,
    score === undefined ? '' : String(score),
    `${counted(changedFiles, 'file')}, ${counted(changedLines, 'line')}`,
    work ? `exit ${work.exit.code}, ${Math.round(work.durationMs)} ms` : 'did not run',
  ];
}

export const presented = { 'sandbox-race': { operation: raceForks, present: race } } as const;
