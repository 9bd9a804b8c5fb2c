import type { Asker, CallOptions } from '../ports/call.ts';
import type { SourceControl, SourceRepository } from '../ports/source-control.ts';

/** The repository this Litterbox works on, opened on first use and once. */
export class OpenRepository {
  readonly #sourceControl: SourceControl;
  readonly #path: string;
  readonly #asker: Asker;
  #opened: Promise<SourceRepository> | undefined;

  constructor(sourceControl: SourceControl, path: string, asker: Asker) {
    this.#sourceControl = sourceControl;
    this.#path = path;
    this.#asker = asker;
  }

  execute(options?: CallOptions): Promise<SourceRepository> {
    options?.signal?.throwIfAborted();
    this.#opened ??= this.#sourceControl.open(this.#path, { asker: this.#asker }).catch((error: unknown) => {
      this.#opened = undefined; // what was wrong may be mended before the next call
      throw error;
    });
    return this.#opened;
  }

  /** What is left of those that were at its place before, and are gone. */
  async *left(options?: CallOptions): AsyncGenerator<Pick<SourceRepository, 'id' | 'remove'>, void, undefined> {
    yield* this.#sourceControl.left?.(this.#path, options) ?? [];
  }

  async close(): Promise<void> {
    const repository = await this.#opened?.catch(() => undefined);
    await repository?.[Symbol.asyncDispose]();
  }
}
