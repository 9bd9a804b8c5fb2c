import type * as z from 'zod';
import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import { slugify } from '../../domain/sandbox/slug.ts';
import type { Operation } from '../declare/operation.ts';

/**
 * The one sandbox that a caller is bound to, under the name that it gave, if any.
 *
 * @throws LitterboxError `SANDBOX_NOT_FOUND` for another, whether or not there is one of that name; what `slugify` throws.
 */
export function boundSandbox(only: string, named: unknown): string {
  if (named === undefined || (typeof named === 'string' && slugify(named).slug === slugify(only).slug)) return only;
  throw new LitterboxError('SANDBOX_NOT_FOUND', `This server works in the sandbox ${shown(only)} alone.`, {
    operation: 'sandbox.find',
    hint: 'Leave the argument sandbox out.',
  });
}

/** The operation for who is bound to one sandbox: when that one is gone, the error names no other. */
export function boundOperation<Input extends z.ZodObject, Result>(
  operation: Operation<Input, Result>,
): Operation<Input, Result> {
  return {
    ...operation,
    async execute(useCases, input, options) {
      try {
        return await operation.execute(useCases, input, options);
      } catch (error) {
        if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error;
        throw new LitterboxError(error.code, error.message, {
          operation: error.details.operation,
          hint:
            error.details.facts?.['end'] === undefined
              ? 'This server works in that sandbox alone: the person has to make it.'
              : 'Stop here: its work is over, and this server works in that sandbox alone.',
        });
      }
    },
  };
}
