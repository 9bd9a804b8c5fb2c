import type * as z from 'zod';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { Operation } from '../declare/operation.ts';
import { nameText } from './text/name-text.ts';
import type { ToolAnswer } from './tool.ts';

/**
 * A tool with a `workdir` for who works below the top of the repository: a command begins there too, because in a repository of many
 * packages that decides which one is meant. Where the sandbox does not have that directory it begins at the top, and says so.
 *
 * @param place relative to the workspace
 */
export function placedOperation(
  operation: Operation<z.ZodObject, ToolAnswer>,
  place: string,
): Operation<z.ZodObject, ToolAnswer> {
  return {
    ...operation,
    async execute(useCases, input, options) {
      if (input['workdir'] !== undefined) return await operation.execute(useCases, input, options);
      try {
        return await operation.execute(useCases, { ...input, workdir: place }, options);
      } catch (error) {
        // Nothing has run yet: it is looked for first.
        if (!isLitterboxError(error, 'NOT_FOUND') || !error.message.startsWith('There is no directory')) throw error;
        const answer = await operation.execute(useCases, input, options);
        if (answer.type !== 'text') return answer;
        const [first, ...more] = answer.text;
        return {
          ...answer,
          text: [
            `${first}\n[note: the sandbox has no ${nameText(place)}: started at the top of the workspace]`,
            ...more,
          ],
        };
      }
    },
  };
}
