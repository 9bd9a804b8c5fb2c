import { step, type NextStep } from '../../domain/errors/next-step.ts';

/** Everything that a person can be asked to agree to. */
export type AskedVerb = 'apply' | 'merge' | 'worktree';

/** The step that asks for the same work once more. */
export function askedAgain(
  verb: AskedVerb,
  slug: string,
  paths: readonly string[] = [],
  consent: { readonly yesRisky?: true; readonly tip?: string } = {},
): NextStep {
  return step(`sandbox-${verb}`, { sandbox: slug, ...(paths.length > 0 && { paths }), ...consent });
}
