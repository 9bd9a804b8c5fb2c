import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { riskFacts, riskLines, riskNames } from '../../domain/paths/grouped-risks.ts';
import type { Approver } from '../../ports/person/approver.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RiskyChange } from '../../ports/source-control/persons-repository.ts';
import type { Revision } from '../../ports/source-control/sandbox-histories.ts';
import { type AskedVerb, askedAgain } from '../common/asked-again.ts';

/** Files that a person is asked to take onto their machine. */
export interface RiskyWork {
  readonly risky: readonly RiskyChange[];
  readonly slug: string;
  /** Only these files and directories of the work. */
  readonly paths?: readonly string[] | undefined;
  /** The state in question. */
  readonly tip: Pick<Revision, 'commit'>;
  /** The command line's verb for it: `merge`. */
  readonly verb: AskedVerb;
  /** After the number of files: `Merge fix-login all the same?` */
  readonly question: string;
}

/**
 * Goes on when nothing can run code, or a person accepts what can.
 *
 * @throws LitterboxError `RISKY_CHANGES`.
 */
export async function acceptRisky(
  approver: Approver,
  { risky, slug, paths, tip, verb, question }: RiskyWork,
  isAccepted: boolean,
  options?: CallOptions,
): Promise<void> {
  if (risky.length === 0 || isAccepted) return;
  const subject = risky.length === 1 ? 'This file' : `These ${risky.length} files`;
  const isApproved = await approver.approve(
    {
      question: `${subject} can run code, or ${risky.length === 1 ? 'hides what it holds' : 'hide what they hold'}. ${question}`,
      details: riskLines(risky),
    },
    options,
  );
  if (isApproved) return;
  throw new LitterboxError(
    'RISKY_CHANGES',
    `${risky.length === 1 ? 'One file' : `${risky.length} files`} of ${slug} can run code, or ${risky.length === 1 ? 'hides what it holds' : 'hide what they hold'}: ${riskNames(risky)}.`,
    {
      operation: `sandbox.${verb}`,
      hint: advice`Read ${risky.length === 1 ? 'it' : 'them'}: ${step('sandbox-diff', { sandbox: slug })}. Then: ${askedAgain(verb, slug, paths, { yesRisky: true })}. Without a look, for exactly this state: ${askedAgain(verb, slug, paths, { yesRisky: true, tip: tip.commit.slice(0, 10) })}.`,
      facts: riskFacts(risky),
    },
  );
}
