import type { IntegrationPlan } from '../../ports/source-control/persons-repository.ts';
import type { Proof } from './read-proof.ts';

/** A plan, what it is without, and what was run to show that the work is right. */
export interface ShownPlan extends IntegrationPlan {
  /** Which tests were run in the sandbox, and how they ended. */
  readonly proof: Proof;
  /** One sentence: why the workspace was not looked into, so that the plan may be without its last changes; or what could not be recorded. */
  readonly unsettled?: string;
}
