import type { AgentTable } from '@litterbox/core';
import { findProgram } from '../agents/start-command.ts';
import type { Context } from '../context.ts';
import { table } from '../terminal/table.ts';
import type { Talk } from '../terminal/talk.ts';
import { knownAgents } from './known-agents.ts';

/** An agent that can work inside, as a list has it. */
export interface InsideAgent extends Pick<AgentTable, 'title' | 'endpoint' | 'origin'> {
  readonly agent: string;
  /** Its program is in the `PATH` of this machine. */
  readonly found: boolean;
}

export async function insideAgents(context: Context): Promise<readonly InsideAgent[]> {
  const { agents } = await knownAgents(await context.litterbox(), context.signal);
  return Object.entries(agents).map(([agent, { title, program, endpoint, origin }]) => {
    const found = findProgram(program, process.env['PATH']) !== undefined;
    return { agent, title, found, endpoint, origin };
  });
}

export function insideTable(talk: Talk, agents: readonly InsideAgent[]): string {
  const rows = agents.map(({ agent, title, found, endpoint, origin }) => [
    agent,
    title,
    found ? 'yes' : talk.paint('dim', 'no'),
    endpoint,
    origin,
  ]);
  return table(['INSIDE', 'IS', 'FOUND', 'ENDPOINT', 'TRIED'], rows, process.stdout.isTTY);
}
