import type { CommandOutcome } from '../../channel/command-outcome.ts';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { RunCommand } from '../work/run-command.ts';
import { judgeScore } from './judge-score.ts';
import { type RacerMarks, rankRacers } from './rank-racers.ts';
import type { RestoreRevision } from './restore-revision.ts';

/** Most that is kept of what a judge prints, in bytes of each stream: the score is at the end. */
const JUDGE_OUTPUT_BYTES = 64 * 1024;

/** One sandbox's work, and its judgement. */
export interface JudgedSandbox extends RacerMarks {
  readonly record: SandboxRecord;
  readonly changedFiles: number;
  /** Absent when the judge could not be run. */
  readonly judgement?: CommandOutcome;
  /** Why it could not be run. */
  readonly error?: Error;
}

/** Sandboxes whose work is to be compared. */
export interface JudgeInput {
  readonly sandboxes: readonly string[];
  /** Runs in each sandbox's shell. Exit status 0 passes; a number on its last line is the score. */
  readonly judge: string;
}

/** All of them, best first. */
export interface JudgeResult {
  readonly judged: readonly JudgedSandbox[];
  /** The best of those that passed. Absent when none did. */
  readonly winner?: Slug;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly runCommand: RunCommand;
  readonly restoreRevision: RestoreRevision;
  readonly openRepository: OpenRepository;
}

/** Runs a judge in several sandboxes at the same time and ranks their work. What the judge changes is taken back: a merge brings the work alone. */
export class JudgeSandboxes {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError when a sandbox is not there; what goes wrong inside one is in the result */
  async judge({ sandboxes, judge }: JudgeInput, options?: ProgressOptions): Promise<JudgeResult> {
    const records: SandboxRecord[] = [];
    for (const name of sandboxes) records.push(await this.#needs.findSandbox.find(name, options));
    const judging = records.map(async (record, index) => {
      const ran = await this.judgeOne(record, judge, options).catch((error: unknown) => {
        options?.signal?.throwIfAborted();
        if (!isLitterboxError(error)) throw error;
        return error;
      });
      return await this.mark(record, index + 1, ran instanceof Error ? { error: ran } : { judgement: ran }, options);
    });
    await Promise.allSettled(judging);
    // Each has ended by now, whatever the caller took back: nothing goes on behind the answer.
    options?.signal?.throwIfAborted();
    const judged = rankRacers(await Promise.all(judging));
    return { judged, ...winnerOf(judged) };
  }

  /** Runs the judge in one sandbox. */
  async judgeOne({ id, slug }: SandboxRecord, command: string, options?: ProgressOptions): Promise<CommandOutcome> {
    options?.onProgress?.({ step: 'race', message: `${slug} is judged` });
    const { tip } = await (await this.#needs.openRepository.open(options)).history(id, options);
    const judgement = await this.#needs.runCommand.run(
      { sandbox: slug, command, tool: 'judge', maxOutputBytes: JUDGE_OUTPUT_BYTES },
      options,
    );
    if (judgement.recorded.revision) await this.#needs.restoreRevision.restore(slug, String(tip.number), options);
    return judgement;
  }

  /** Adds the figures by which it is ranked. */
  async mark<Ran extends Pick<JudgedSandbox, 'judgement' | 'error'>>(
    record: SandboxRecord,
    number: number,
    ran: Ran,
    options?: ProgressOptions,
  ): Promise<Ran & JudgedSandbox> {
    const repository = await this.#needs.openRepository.open(options);
    const changes = await repository.changes(record.id, options);
    const { judgement } = ran;
    return {
      ...ran,
      number,
      record,
      isPassed: ran.error === undefined && judgement?.exit.code === 0,
      score: judgement && judgeScore(decodeRaw(judgement.stdout.bytes)),
      changedFiles: changes.length,
      changedLines: changes.reduce((sum, one) => sum + (one.addedLines ?? 0) + (one.removedLines ?? 0), 0),
    };
  }
}

/** @param ranked best first */
export function winnerOf([best]: readonly JudgedSandbox[]): { readonly winner?: Slug } {
  return best?.isPassed === true ? { winner: best.record.slug } : {};
}
