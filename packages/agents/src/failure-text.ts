import { isLitterboxError } from 'litterbox';

/** What went wrong and the next step, in one line for a model. */
export function failureText(error: unknown): string {
  const hint = isLitterboxError(error) && error.details.hint ? ` ${error.details.hint}` : '';
  return `${error instanceof Error ? error.message : String(error)}${hint}`;
}
