import type { Command } from '../../domain/processes/command.ts';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { FailedFork, ForkOptions, ForkResult, ForkSandbox } from '../create/fork-sandbox.ts';
import { type JudgedSandbox, type JudgeSandboxes, winnerOf } from './judge-sandboxes.ts';
import { rankRacers } from './rank-racers.ts';
import type { RunCommand, RunCommandResult } from '../work/run-command.ts';

/** The variable that tells a command which of the forks it works in, from 1 on. */
export const RACER_VARIABLE = 'LITTERBOX_RACER';

/** Which work is raced, and who says how good it is. */
export interface RaceInput {
  /** The sandbox that each racer is a fork of. It stays what it is. */
  readonly sandbox: string;
  /** Runs in each fork, with {@link RACER_VARIABLE}. */
  readonly command: Command;
  /** Runs in each fork's shell afterwards. Exit status 0 passes; a number on its last line is the score. */
  readonly judge: string;
  readonly count: number;
  /** Beginning of the forks' names. @defaultValue the sandbox's name, with the first free numbers */
  readonly name?: string | undefined;
  /** Milliseconds for the work of each racer. @defaultValue the policy's */
  readonly timeoutMs?: number | undefined;
}

/** One fork, its work and its judgement. */
export interface Racer extends JudgedSandbox {
  /** Absent when the command could not be run. */
  readonly work?: RunCommandResult;
}

/** Everybody who took part, best first. */
export interface RaceResult {
  readonly racers: readonly Racer[];
  /** The best of those that passed. Absent when none did. */
  readonly winner?: Slug;
  /** Forks that could not be made. */
  readonly unmade: readonly FailedFork[];
}

type Ran = Pick<Racer, 'work' | 'judgement' | 'error'>;

interface Needs {
  readonly forkSandbox: ForkSandbox;
  readonly runCommand: RunCommand;
  readonly judgeSandboxes: JudgeSandboxes;
}

/**
 * Does the same work in several forks of one sandbox at the same time, and ranks the forks by what a judge says. Nothing is removed: the
 * caller decides what becomes of the forks, and hears of each as it is made: also of those of a race that is taken back. Changes by the judge are taken back, so that a merge of the winner brings its work alone.
 */
export class RaceForks {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError when there is nothing to fork, or no fork could be made; what goes wrong in one fork is in the result */
  async race(input: RaceInput, options?: ForkOptions): Promise<RaceResult> {
    const { sandbox, name, count } = input;
    // Numbered as the racers are: who reads what one of them wrote down finds its fork.
    const wanted = name ?? (await this.#needs.forkSandbox.freeRow(sandbox, count, options));
    const { forks } = await this.#needs.forkSandbox.forkSeveral(sandbox, { wanted, count }, options);
    const made = forks.filter((fork): fork is ForkResult => 'record' in fork);
    const unmade = forks.filter((fork): fork is FailedFork => 'error' in fork);
    if (made.length === 0 && unmade[0]) throw unmade[0].error;
    const racing = made.map(async ({ record }, index) => await this.#runRacer(record, index + 1, input, options));
    await Promise.allSettled(racing);
    // Each has ended by now, whatever the caller took back: nothing goes on behind the answer.
    options?.signal?.throwIfAborted();
    const racers = rankRacers(await Promise.all(racing));
    return { racers, unmade, ...winnerOf(racers) };
  }

  async #runRacer(record: SandboxRecord, number: number, input: RaceInput, options?: ProgressOptions): Promise<Racer> {
    const ran = await this.#ran(record, number, input, options);
    return await this.#needs.judgeSandboxes.mark(record, number, ran, options);
  }

  async #ran(record: SandboxRecord, number: number, input: RaceInput, options?: ProgressOptions): Promise<Ran> {
    const { slug } = record;
    let work: RunCommandResult | undefined;
    try {
      options?.onProgress?.({ step: 'race', message: `${slug} works` });
      const { command, timeoutMs } = input;
      const env = { [RACER_VARIABLE]: String(number) };
      work = await this.#needs.runCommand.run({ sandbox: slug, command, env, timeoutMs }, options);
      return { work, judgement: await this.#needs.judgeSandboxes.judgeOne(record, input.judge, options) };
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
      return { ...(work && { work }), error };
    }
  }
}
