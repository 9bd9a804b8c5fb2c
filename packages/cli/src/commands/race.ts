import {
  type CommandOutcome,
  decodeRaw,
  deleteSandbox,
  type Parsed,
  quoted,
  type Racer,
  raceForks,
  visible,
} from '@litterbox/core';
import { askAtTerminal, isAtTerminal } from '../terminal/ask.ts';
import type { Context } from '../context.ts';
import { table } from '../terminal/table.ts';
import { reportForks } from '../terminal/report-forks.ts';
import { presented as review } from '../reviewing/review.ts';

interface RaceFlags {
  readonly yes?: boolean;
}

async function race(context: Context, input: Parsed<typeof raceForks>, { yes = false }: RaceFlags): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.settled();
  const raced = await reportForks(talk, (onFork) =>
    litterbox.perform(raceForks, input, { signal, onProgress: talk.progress, onFork }),
  );
  const { racers, winner, unmade } = raced;
  for (const { error } of unmade) talk.warning(error.message);
  for (const { record, error } of racers) if (error) talk.warning(`${record.slug}: ${error.message}`);
  if (talk.json) talk.document(raceForks.document?.(raced));
  else talk.result(table(['NAME', 'JUDGE', 'SCORE', 'CHANGES', 'WORK'], racers.map(row), process.stdout.isTTY));
  if (winner === undefined) {
    const [best] = racers;
    if (best?.judgement && !talk.json) {
      talk.notice(`${best.record.slug}: the judge printed`);
      for (const line of lastLines(best.judgement)) talk.notice(`  | ${visible(line)}`);
    }
    const name = best?.record.slug ?? input.sandbox;
    talk.notice(`No fork passed. To see what the judge prints: litterbox run ${name} ${quoted(input.judge)}.`);
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

const JUDGE_LINES = 10;

/** Errors after output: that is where most judges say what is wrong. */
function lastLines({ stdout, stderr }: CommandOutcome): readonly string[] {
  const said = [stdout, stderr].map(({ bytes }) => decodeRaw(bytes).trimEnd()).filter((text) => text !== '');
  return said
    .join('\n')
    .split(/\r\n?|\n/)
    .slice(-JUDGE_LINES);
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
