import type { Policy } from '../../domain/sandbox/policy.ts';
import type { FoundBase } from '../../ports/source-control/persons-repository.ts';

/**
 * The policy of a sandbox that begins with that base. A setup's commands are the person's, and what they run is the tree's: where an agent
 * wrote that and nobody has taken it over, it runs without the network and without endpoints.
 */
export function policyForBase(policy: Policy, { isPersons }: Pick<FoundBase, 'isPersons'>): Policy {
  const { network, endpoints = [] } = policy;
  const hasWays = network.setup !== 'none' || endpoints.some(({ inSetup }) => inSetup);
  if (isPersons || !hasWays) return policy;
  return { ...policy, network: { ...network, setup: 'none', isWithheld: true } };
}

/** The warning about a withheld network: one sentence, and what to do. */
export function withheldNetwork({ network }: Policy): string | undefined {
  if (!network.isWithheld) return undefined;
  return 'The setup runs without a network, because only branches of agents hold this base. It gets one once a person has merged the base, or made a branch of their own there (git branch NAME COMMIT).';
}
