import { type KeeperAnswer, type Keepers, type SandboxId } from '@litterbox/core/provider';

/** How keepers are found, where all of them are in this program. */
export function memoryKeepers(answers = new Map<SandboxId, KeeperAnswer>()): Keepers {
  return {
    async serve(id, answer) {
      answers.set(id, answer);
      return {
        async [Symbol.asyncDispose]() {
          if (answers.get(id) === answer) answers.delete(id);
        },
      };
    },
    async ask(id, request, options) {
      options?.signal?.throwIfAborted();
      return answers.get(id)?.(request, options ?? {});
    },
  };
}
