import { LitterboxError } from '../../domain/errors/errors.ts';
import type { Asker, CallOptions } from '../../ports/common/call.ts';
import type { SourceControl, SourceRepository } from '../../ports/source-control/source-control.ts';

interface Needs {
  readonly sourceControl: SourceControl;
  readonly repositoryPath: string | undefined;
  readonly asker: Asker;
}

/** The repository this Litterbox works on, opened on first use and once. */
export class OpenRepository {
  readonly #needs: Needs;
  #opened: Promise<SourceRepository> | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** A person's, or without a path the one that is nobody's. */
  open(options?: CallOptions): Promise<SourceRepository> {
    options?.signal?.throwIfAborted();
    this.#opened ??= this.#find().catch((error: unknown) => {
      this.#opened = undefined; // what was wrong may be mended before the next call
      throw error;
    });
    return this.#opened;
  }

  /** Leftovers of repositories that were at its place before. */
  async *left(options?: CallOptions): AsyncGenerator<Pick<SourceRepository, 'id' | 'remove'>, void, undefined> {
    const { sourceControl, repositoryPath } = this.#needs;
    if (repositoryPath !== undefined) yield* sourceControl.left?.(repositoryPath, options) ?? [];
  }

  async close(): Promise<void> {
    const repository = await this.#opened?.catch(() => undefined);
    await repository?.[Symbol.asyncDispose]();
  }

  async #find(): Promise<SourceRepository> {
    const { sourceControl, repositoryPath, asker } = this.#needs;
    if (repositoryPath !== undefined) return await sourceControl.open(repositoryPath, { asker });
    if (sourceControl.openOwn) return await sourceControl.openOwn({ asker });
    throw new LitterboxError('UNSUPPORTED', 'This source control makes no sandboxes without a repository.', {
      operation: 'repository.open',
      hint: 'Name a repository in the option repo.',
    });
  }
}
