import { LitterboxError, shown } from '@litterbox/core';
import { freeNames } from '../commands/with.ts';

/** At once: each is a program with a model, in a sandbox of its own. */
const MAX_AGENTS = 16;

/** One of the agents that work at once. */
export interface AgentRacer {
  /** As `agent list` shows it. */
  readonly id: string;
  readonly prompt: string;
}

/** The same with the sandbox that will be made for it. */
export interface NamedRacer extends AgentRacer {
  readonly sandbox: string;
}

/**
 * Each agent with each prompt, as often as `--number` says.
 *
 * @param list agents, separated by commas
 * @throws LitterboxError `ARG_RANGE` for more than may be, `ARG_UNKNOWN` for a judge with nothing to compare
 */
export function racersOf(
  list: string,
  prompts: readonly string[],
  { number, judge }: { readonly number?: string; readonly judge?: string },
): readonly [AgentRacer, ...AgentRacer[]] {
  const count = number === undefined ? 1 : Number(number);
  if (!(Number.isInteger(count) && count >= 1 && count <= MAX_AGENTS))
    throw new LitterboxError('ARG_RANGE', `--number ${shown(number)} is not from 1 to ${MAX_AGENTS}.`, {
      operation: 'cli.parse',
      hint: 'Say how many agents work at once, each in a sandbox of its own.',
    });
  const ids = [...new Set(list.split(',').map((id) => id.trim()))];
  const [first = { id: '', prompt: '' }, ...more] = ids.flatMap((id) =>
    prompts.flatMap((prompt) => Array.from({ length: count }, () => ({ id, prompt }))),
  );
  if (more.length >= MAX_AGENTS)
    throw new LitterboxError('ARG_RANGE', `${more.length + 1} agents at once are more than ${MAX_AGENTS}.`, {
      operation: 'cli.parse',
      hint: 'Name fewer agents or prompts, or a smaller --number.',
    });
  if (judge !== undefined && more.length === 0)
    throw new LitterboxError('ARG_UNKNOWN', '--judge compares several, and one agent is named.', {
      operation: 'cli.parse',
      hint: 'Name several agents (claude,codex), more of them (--number 2), or leave out --judge and run the command in the sandbox.',
    });
  return [first, ...more];
}

/** @param wanted the beginning of their names, if the person named one */
export function namedRacers(
  racers: readonly AgentRacer[],
  wanted: string | undefined,
  branch: string,
  taken: ReadonlySet<string>,
): readonly NamedRacer[] {
  const used = new Set(taken);
  const isOneAgent = racers.every(({ id }) => id === racers[0]?.id);
  return racers.map((racer) => {
    const name = wanted === undefined ? `${branch}-${racer.id}` : isOneAgent ? wanted : `${wanted}-${racer.id}`;
    const [sandbox = name] = freeNames(name, used, 1);
    used.add(sandbox);
    return { ...racer, sandbox };
  });
}
