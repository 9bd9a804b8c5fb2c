import { hintForPeople, isLitterboxError } from 'litterbox';

/** What went wrong and the next step, in one line for a model. */
export function failureText(error: unknown): string {
  const hint = isLitterboxError(error) && error.details.hint ? ` ${hintForPeople(error.details)}` : '';
  return `${error instanceof Error ? error.message : String(error)}${hint}`;
}
