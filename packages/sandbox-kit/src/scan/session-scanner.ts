import { type CallOptions, isLitterboxError, LitterboxError } from '@litterbox/core/provider';
import type { ClockMoment } from './clock-mark.ts';
import { type FoundEntry, foundEntry } from './found-entry.ts';
import { parseWalk, type Walk } from './parse-walk.ts';
import { ResidentProgram, type StartResident } from './resident-program.ts';
import { toldMoment } from './told-clock.ts';

/**
 * The change scanner that a session has of its own: a place in which the session program answers requests, and starts no program. What
 * it answers is told in `packages/session-program/src/walker.h`. A session that is started by shell text has none.
 */
export class SessionScanner implements AsyncDisposable {
  readonly #program: ResidentProgram;

  /** @param start starts what answers, in the session as it is now; gives undefined where that has none */
  constructor(start: StartResident) {
    this.#program = new ResidentProgram(start);
  }

  /** Starts it ahead of the first look. @returns whether there is one */
  async warm(): Promise<boolean> {
    return await this.#program.warm().catch(() => true); // the look then says why not
  }

  /** Tells what changed at or after the moment, or all without one; undefined without a scanner. */
  async walk(since: string | undefined, options?: CallOptions): Promise<Walk | undefined> {
    const texts = await this.#ask([`W${since ?? ''}`], options);
    if (!texts) return undefined;
    const walk = parseWalk(texts);
    if (!walk) throw failed();
    return walk;
  }

  /** Tells the moment of now; undefined without a scanner. */
  async now(options?: CallOptions): Promise<ClockMoment | undefined> {
    const texts = await this.#ask(['T'], options);
    if (!texts) return undefined;
    const now = toldMoment(texts[0] ?? '');
    if (!now) throw failed();
    return now;
  }

  /** Tells what is at these absolute paths, and all below; undefined without a scanner. */
  async allBelow(paths: readonly string[], options?: CallOptions): Promise<readonly FoundEntry[] | undefined> {
    return (
      await this.#ask(
        paths.map((path) => `A${path}`),
        options,
      )
    )?.map(foundEntry);
  }

  /** Types and paths of the entries of directories at absolute paths; undefined without a scanner. */
  async entriesOf(directories: readonly string[], options?: CallOptions): Promise<readonly FoundEntry[] | undefined> {
    return (
      await this.#ask(
        directories.map((path) => `C${path}`),
        options,
      )
    )?.map(foundEntry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }

  /** Once more where it ended on the way, as with a session that another program stopped. */
  async #ask(requests: readonly string[], options?: CallOptions): Promise<readonly string[] | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#program.ask(requests, options?.signal);
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (isLitterboxError(error, 'SNAPSHOT_FAILED')) throw error;
        if (attempt === 2) throw isLitterboxError(error) ? error : failed(error);
      }
    }
  }
}

function failed(cause?: unknown): LitterboxError {
  return new LitterboxError('SNAPSHOT_FAILED', 'Looking for changes failed: the change scanner gave no whole answer.', {
    operation: 'runtime.scan',
    hint: 'Run the command again: what it changed is still there and will be recorded then.',
    ...(cause !== undefined && { cause }),
  });
}
