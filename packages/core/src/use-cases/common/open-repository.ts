import type { Asker, CallOptions } from '../../ports/common/call.ts';
import type { SourceControl, SourceRepository } from '../../ports/source-control/source-control.ts';

interface Needs {
  readonly sourceControl: SourceControl;
  readonly repositoryPath: string;
  readonly asker: Asker;
}

/** The repository this Litterbox works on, opened on first use and once. */
export class OpenRepository {
  readonly #needs: Needs;
  #opened: Promise<SourceRepository> | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  open(options?: CallOptions): Promise<SourceRepository> {
    options?.signal?.throwIfAborted();
    this.#opened ??= this.#needs.sourceControl
      .open(this.#needs.repositoryPath, { asker: this.#needs.asker })
      .catch((error: unknown) => {
        this.#opened = undefined; // what was wrong may be mended before the next call
        throw error;
      });
    return this.#opened;
  }

  /** Leftovers of repositories that were at its place before. */
  async *left(options?: CallOptions): AsyncGenerator<Pick<SourceRepository, 'id' | 'remove'>, void, undefined> {
    yield* this.#needs.sourceControl.left?.(this.#needs.repositoryPath, options) ?? [];
  }

  async close(): Promise<void> {
    const repository = await this.#opened?.catch(() => undefined);
    await repository?.[Symbol.asyncDispose]();
  }
}
