import { type Clock, LitterboxError, type SourceControl } from '@litterbox/core/provider';
import { memoryRepository } from './memory-repository.ts';
import type { RepositoryShelf } from './repository-shelf.ts';

/** Source control in memory: over a shelf, any number of them see the same. */
export function memorySourceControl(shelf: RepositoryShelf, clock: Clock): SourceControl {
  return {
    async open(path, options) {
      options?.signal?.throwIfAborted();
      const kept = shelf.find(path);
      if (kept) return memoryRepository(kept, clock, options?.asker);
      throw new LitterboxError('NOT_A_REPO', `${path} is in no repository.`, {
        operation: 'source-control.open',
        hint: 'Begin one: git init.',
      });
    },

    async openOwn(options) {
      options?.signal?.throwIfAborted();
      return memoryRepository(shelf.own(), clock, options?.asker);
    },

    async *list(options) {
      options?.signal?.throwIfAborted();
      for (const { id, person } of shelf.kept) yield { id, root: person.root };
    },

    async [Symbol.asyncDispose]() {},
  };
}
