import { applyDiff, type Editor } from '@openai/agents-core';
import { LitterboxError, type SandboxFiles } from 'litterbox';

/** Applies the patches of a model to files of a sandbox. The SDK tells the model why one failed. */
export function sandboxEditor(files: SandboxFiles): Editor {
  return {
    async createFile({ path, diff }) {
      if (await files.exists(path))
        throw new LitterboxError(
          'CONFLICT',
          `${JSON.stringify(path)} is there already: update it, or delete it first.`,
          {
            operation: 'openai-agents.create-file',
          },
        );
      await files.write(path, applyDiff('', diff, 'create'));
    },

    async updateFile({ path, diff, moveTo = path }) {
      await files.write(moveTo, applyDiff(await files.readText(path), diff));
      if (moveTo !== path) await files.remove(path);
    },

    deleteFile: async ({ path }) => void (await files.remove(path)),
  };
}
