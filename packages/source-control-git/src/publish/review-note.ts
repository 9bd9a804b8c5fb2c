import { withTrailer } from '../person/persons-commits.ts';

const NAME = 'Litterbox-Revision';

/**
 * A milestone's message with the line that says how far the review branch goes: who reads the branch with git alone would take it for all
 * of the sandbox's work.
 */
export const withReviewNote = (message: string, revision: number): string =>
  withTrailer(message, `${NAME}: ${revision} (this branch holds nothing later; the diff of the sandbox shows all)`);

/** The message as it was given, which is what the person's own commit gets. */
export const withoutReviewNote = (message: string): string => message.replace(new RegExp(`\\n+${NAME}: .*\\n*$`), '\n');
