import { agentEndpoint, AgentLog, type AgentRun, assertPrompt, runAgent } from '@litterbox/agents';
import {
  isLitterboxError,
  LitterboxError,
  parseDuration,
  readLog,
  reconcileState,
  shown,
  visible,
} from '@litterbox/core';
import { agentDirectory } from '@litterbox/state-sqlite';
import type { OutputChunk } from 'litterbox';
import { defaultStateDirectory } from 'litterbox/performer';
import { conclude } from '../agents/conclude.ts';
import { branchOf, type SandboxFlags, sandboxFor } from '../commands/with.ts';
import { loadForAgent } from '../load-litterbox.ts';
import type { Perform } from '../perform.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askOrCancel } from '../terminal/ask.ts';
import { passOn } from '../terminal/output-streams.ts';
import { agentNamed, knownAgents } from './known-agents.ts';
import { assertNotes, NotesAsTasks, runTasks } from './notes-as-tasks.ts';
import { namedRacers, racersOf } from './racers.ts';
import { runSeveral } from './run-several.ts';
import { RunningAgent } from './running-agent.ts';

interface Flags extends SandboxFlags {
  readonly timeLimit?: string;
  readonly silence?: string;
  readonly number?: string;
  readonly prompt?: readonly string[];
  readonly judge?: string;
}

/** The exit status of `timeout` for a command that it ended. */
const TIMED_OUT = 124;
const DEFAULT_TIME_LIMIT_MS = 3_600_000;
const DEFAULT_SILENCE_MS = 900_000;

/** `litterbox agent run AGENT -- PROMPT`: the agent's own program works inside, without a person and without its key. */
export const run: Perform = async (context, [list = '', ...words], flags: Flags) => {
  const { talk, directory, signal } = context;
  const [timeLimitMs, silenceMs] = [
    durationOf('--time-limit', flags.timeLimit) ?? DEFAULT_TIME_LIMIT_MS,
    durationOf('--silence', flags.silence) ?? DEFAULT_SILENCE_MS,
  ];
  const prompt = words.filter((word) => word !== undefined).join(' ');
  const racers = racersOf(list, [prompt, ...(flags.prompt ?? [])], flags);
  const [{ id }] = racers;
  // Without a prompt the notes of the sandbox are the task.
  const isByNotes = prompt === '' && flags.sandbox !== undefined && racers.length === 1;
  if (!isByNotes) for (const racer of racers) assertPrompt(racer.prompt);
  const root = repositoryRoot(directory) ?? directory;
  await using litterbox = await loadForAgent(directory, askOrCancel, id);
  if (isByNotes) await assertNotes(litterbox, flags.sandbox ?? '', signal);
  const { agents, endpoints } = await knownAgents(litterbox, signal);
  const seats = racers.map((racer) => {
    const agent = agentNamed(agents, racer.id);
    const assertReady = () => agentEndpoint(agent, endpoints, '.litterbox.toml');
    return { id: racer.id, title: agent.title, assertReady };
  });
  for (const sentence of await litterbox.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
  const [seat] = seats;
  if (seat === undefined || racers.length > 1) {
    for (const each of seats) each.assertReady();
    const taken = new Set((await litterbox.list('repository', { signal })).map(({ name }) => name));
    const named = namedRacers(racers, flags.sandbox, branchOf(root), taken);
    return await runSeveral(context, litterbox, named, { options: optionsOf(flags), judge: flags.judge });
  }
  const agent = agentNamed(agents, id);
  const { sandbox, isNew } = await sandboxFor(context, litterbox, seat, flags, root);
  await using _seat = await sandbox.seat(id, { signal });
  const [before] = await litterbox.perform(readLog, { sandbox: sandbox.name, limit: 1 }, { signal });
  const kept = agentDirectory(defaultStateDirectory(process.env), sandbox.id);
  using log = AgentLog.begin(kept);
  using _running = RunningAgent.begin(kept);
  if (agent.origin === 'untried')
    talk.warning(`${agent.title} was never tried here; what Litterbox knows of it is from its vendor.`);
  talk.notice(talk.paint('dim', `${agent.title} works inside ${sandbox.name}.`, process.stderr));
  talk.endProgress();
  const onOutput = async (chunk: OutputChunk) => {
    log.write(chunk.bytes);
    if (!talk.json) await passOn(chunk);
  };
  const bounds = { timeLimitMs, silenceMs, onOutput, signal };
  const notes = new NotesAsTasks(context, litterbox, { sandbox: sandbox.name, agent: id });
  const work = async (task: string) => await runAgent(sandbox, { name: id, agent, prompt: task }, bounds);
  const ran = await runTasks(prompt, notes, work).catch(async (error: unknown) => {
    // One that was made for this agent is of no use without its program. One in which a setup left work stays.
    if (isNew && isLitterboxError(error, 'TOOL_MISSING')) await litterbox.delete(sandbox.name).catch(() => {});
    throw error;
  });
  process.exitCode = ran.endedBy === 'time-limit' || ran.endedBy === 'silence' ? TIMED_OUT : ran.exitCode;
  if (talk.json) return talk.document({ sandbox: sandbox.name, agent: id, ...runDocument(ran) });
  await conclude(context, litterbox, sandbox, {
    title: agent.title,
    before,
    how: howText(ran),
    next: () => `litterbox agent run ${id} --sandbox ${sandbox.name} -- PROMPT`,
  });
};

function runDocument({ recorded: { changedFiles, revision }, ...rest }: AgentRun) {
  return { ...rest, changedFiles, revision: revision?.number ?? null };
}

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

function howText({ endedBy, exitCode, durationMs, tokens }: AgentRun): string {
  const seconds = Math.max(1, Math.round(durationMs / 1000));
  const time = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const counted = tokens ? `, by its own count with ${tokens.input} tokens in and ${tokens.output} out,` : '';
  const ended = {
    itself: `ended after ${time}${exitCode === 0 ? '' : ` with exit code ${exitCode}`}`,
    'after-end': `was done after ${time} but went on, was ended`,
    'time-limit': `was ended at its time limit (--time-limit) after ${time}`,
    silence: `was ended after ${time}, as it printed nothing for so long (--silence)`,
    stop: `was stopped after ${time}`,
  }[endedBy];
  return `${ended}${counted}`;
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
