import { LitterboxError } from 'litterbox';

/** Something of the SDK that a sandbox cannot honour. */
export const refused = (what: string, hint: string): LitterboxError =>
  new LitterboxError('UNSUPPORTED', `A sandbox of Litterbox cannot honour ${what}.`, {
    operation: 'openai-agents.session',
    hint,
  });

/** There is one user inside. */
export function assertNoRunAs(runAs?: string): void {
  if (runAs !== undefined)
    throw refused(`runAs ${JSON.stringify(runAs)}`, 'Leave it out: all runs as one user without root.');
}
