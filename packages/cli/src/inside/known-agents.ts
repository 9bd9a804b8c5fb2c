import { type AgentTable, agentsOf, isLitterboxError, LitterboxError, nearestName, trustConfig } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

type Agents = Readonly<Record<string, AgentTable>>;

/** All agents that can work inside, and the endpoints that a new sandbox would have. Outside of a repository those agents that come along. */
export async function knownAgents(
  litterbox: Performer,
  signal: AbortSignal,
): Promise<{
  readonly agents: Agents;
  readonly endpoints: readonly { readonly name: string; readonly kind?: string }[];
}> {
  try {
    const { config } = await litterbox.perform(trustConfig, {}, { signal });
    const endpoints = Object.entries(config.endpoints).map(([name, { kind }]) => ({ name, ...(kind && { kind }) }));
    return { agents: agentsOf(config.agents), endpoints };
  } catch (error) {
    if (isLitterboxError(error, 'NOT_A_REPO')) return { agents: agentsOf({}), endpoints: [] };
    throw error;
  }
}

/** @throws LitterboxError `NOT_FOUND` */
export function agentNamed(agents: Agents, name: string): AgentTable {
  const found = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (found) return found;
  const names = Object.keys(agents);
  const near = nearestName(name, names);
  throw new LitterboxError('NOT_FOUND', `There is no agent ${JSON.stringify(name.slice(0, 80))}.`, {
    operation: 'agent.run',
    hint: `${near === undefined ? '' : `Did you mean ${near}? `}There are ${names.join(', ')}; others come below [agents] of .litterbox.toml.`,
  });
}
