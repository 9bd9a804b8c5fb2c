import { hintForPeople, isLitterboxError, visible } from '@litterbox/core';

/** A refusal as the page shows it: in the words of the command line. */
export function errorAnswer(error: unknown): { readonly status: number; readonly body: object } {
  if (!isLitterboxError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, body: { error: { code: 'INTERNAL', message: visible(message) } } };
  }
  const { code, message, details } = error;
  const hint = hintForPeople(details);
  return {
    status: code === 'SANDBOX_NOT_FOUND' || code === 'NOT_FOUND' ? 404 : 409,
    body: { error: { code, message: visible(message), ...(hint !== undefined && { hint: visible(hint) }) } },
  };
}
