import { AgentLog, type AgentRun, runAgent } from '@litterbox/agents';
import { type AgentTable, isLitterboxError, readLog, visible } from '@litterbox/core';
import { agentDirectory } from '@litterbox/state-sqlite';
import type { Litterbox, OutputChunk } from 'litterbox';
import { defaultStateDirectory } from 'litterbox/performer';
import { conclude } from '../agents/conclude.ts';
import { type SandboxFlags, sandboxFor } from '../commands/with.ts';
import type { Context } from '../context.ts';
import { passOn } from '../terminal/output-streams.ts';
import { NotesAsTasks, runTasks } from './notes-as-tasks.ts';
import { RunningAgent } from './running-agent.ts';

/** The exit status of `timeout` for a command that it ended. */
const TIMED_OUT = 124;

/** The agent, its task and its bounds. */
interface Task {
  readonly seat: {
    readonly id: string;
    readonly agent: AgentTable;
    readonly title: string;
    assertReady(): void;
  };
  /** Empty: notes of the person are the task. */
  readonly prompt: string;
  readonly flags: SandboxFlags;
  readonly root: string;
  readonly limits: { readonly timeLimitMs: number; readonly silenceMs: number };
}

/** One agent at work in this terminal, from its sandbox to the words at its end. */
export async function runAlone(
  context: Context,
  litterbox: Litterbox,
  { seat, prompt, flags, root, limits }: Task,
): Promise<void> {
  const { talk, signal } = context;
  const { id, agent } = seat;
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
  const bounds = { ...limits, onOutput, signal };
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
  for (const hint of ran.hints) talk.notice(`hint: ${visible(hint)}`);
}

function runDocument({ recorded: { changedFiles, revision }, ...rest }: AgentRun) {
  return { ...rest, changedFiles, revision: revision?.number ?? null };
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
