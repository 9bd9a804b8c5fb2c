import { agentEndpoint, assertPrompt } from '@litterbox/agents';
import { LitterboxError, parseDuration, reconcileState, shown, visible } from '@litterbox/core';
import { branchOf, type SandboxFlags } from '../commands/with.ts';
import { loadForAgent } from '../load-litterbox.ts';
import type { Perform } from '../perform.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askOrCancel } from '../terminal/ask.ts';
import { endWithParent } from './end-with-parent.ts';
import { agentNamed, knownAgents } from './known-agents.ts';
import { assertNotes } from './notes-as-tasks.ts';
import { namedRacers, racersOf } from './racers.ts';
import { runAlone } from './run-alone.ts';
import { runSeveral } from './run-several.ts';

interface Flags extends SandboxFlags {
  readonly timeLimit?: string;
  readonly silence?: string;
  readonly number?: string;
  readonly prompt?: readonly string[];
  readonly judge?: string;
}

const DEFAULT_TIME_LIMIT_MS = 3_600_000;
const DEFAULT_SILENCE_MS = 900_000;

/** `litterbox agent run AGENT -- PROMPT`: the agent's own program works inside, without a person and without its key. */
export const run: Perform = async (context, [list = '', ...words], flags: Flags) => {
  const { talk, directory, signal } = context;
  endWithParent();
  const [timeLimitMs, silenceMs] = [
    durationOf('--time-limit', flags.timeLimit) ?? DEFAULT_TIME_LIMIT_MS,
    durationOf('--silence', flags.silence) ?? DEFAULT_SILENCE_MS,
  ];
  const prompt = words.filter((word) => word !== undefined).join(' ');
  const { prompt: more = [] } = flags;
  const racers = racersOf(list, prompt === '' && more.length > 0 ? more : [prompt, ...more], flags);
  // Without a prompt the notes of the sandbox are the task.
  const isByNotes = racers.length === 1 && racers[0].prompt === '' && flags.sandbox !== undefined;
  if (!isByNotes) for (const racer of racers) assertPrompt(racer.prompt);
  const root = repositoryRoot(directory) ?? directory;
  await using litterbox = await loadForAgent(directory, askOrCancel, racers[0].id);
  if (isByNotes) await assertNotes(litterbox, flags.sandbox ?? '', signal);
  const { agents, endpoints } = await knownAgents(litterbox, signal);
  const seats = racers.map((racer) => {
    const agent = agentNamed(agents, racer.id);
    const assertReady = () => void agentEndpoint(agent, endpoints, '.litterbox.toml');
    return { id: racer.id, agent, title: agent.title, assertReady };
  });
  for (const sentence of await litterbox.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
  const [seat] = seats;
  if (seat === undefined || racers.length > 1) {
    for (const each of seats) each.assertReady();
    const taken = new Set((await litterbox.list('repository', { signal })).map(({ name }) => name));
    const named = namedRacers(racers, flags.sandbox, branchOf(root), taken);
    return await runSeveral(context, litterbox, named, { options: optionsOf(flags), judge: flags.judge });
  }
  await runAlone(context, litterbox, {
    seat,
    prompt: racers[0].prompt,
    flags,
    root,
    limits: { timeLimitMs, silenceMs },
  });
};

/** Those that each of several is told as well. */
function optionsOf({ timeLimit, silence, provider, host, image, from }: Flags): readonly string[] {
  const given = {
    '--time-limit': timeLimit,
    '--silence': silence,
    '--provider': provider,
    '--host': host,
    '--image': image,
    '--from': from,
  };
  return Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option, value]));
}

function durationOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (parsed !== undefined && parsed >= 1000 && parsed <= 86_400_000) return parsed;
  throw new LitterboxError('ARG_RANGE', `${name} ${shown(text)} is not a duration from 1s to 24h.`, {
    operation: 'cli.parse',
    hint: 'Give a duration such as 90s or 30m.',
  });
}
