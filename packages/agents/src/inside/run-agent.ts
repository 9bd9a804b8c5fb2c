import { type AgentTable, type CallOptions, type OutputChunk, type RevisionResult, type Sandbox } from 'litterbox';
import { passedOn } from '../passed-on.ts';
import { AgentEvents, type CountedTokens } from './agent-events.ts';
import { agentEndpoint } from './agent-endpoint.ts';
import { AgentWatch, type EndedBy } from './agent-watch.ts';
import { assertPrompt } from './assert-prompt.ts';
import { prepareAgent } from './prepare-agent.ts';

/** How an agent works without a person. */
export interface AgentRunOptions extends CallOptions {
  /** The agent is ended then. */
  readonly timeLimitMs?: number | undefined;
  /** The agent is ended when it has printed nothing for so long. */
  readonly silenceMs?: number | undefined;
  /** Hears all that it prints, live and hostile. A promise holds it back. */
  readonly onOutput?: ((chunk: OutputChunk) => Promise<void>) | undefined;
}

/** How an agent ended. */
export interface AgentRun {
  /** 128 + n when signal n ended it. */
  readonly exitCode: number;
  readonly endedBy: EndedBy;
  readonly durationMs: number;
  /** As it counts them itself. */
  readonly tokens?: CountedTokens;
  /** Limits of the sandbox that it ran into, a sentence each. */
  readonly hints: readonly string[];
  readonly recorded: RevisionResult;
}

/** Limits are told in sentences; what else there is to say of a command is for who ran it. */
export const limitsIn = (hints: readonly unknown[]): readonly string[] =>
  hints.filter((hint): hint is string => typeof hint === 'string');

/**
 * Lets an agent work inside, by its own program, with the key of its model outside. The call takes no turn: others may look meanwhile. All
 * that it started ends with it, and what it changed is recorded: then, and meanwhile whenever the workspace was still for a second.
 *
 * @param name of the agent, by which log and revisions tell of it
 * @throws LitterboxError `CONFIG_MISSING` without an endpoint, `PERMISSION_DENIED` for a login inside, `TOOL_MISSING` without its program
 */
export async function runAgent(
  sandbox: Pick<Sandbox, 'attach' | 'record' | 'name'>,
  { name, agent, prompt }: { readonly name: string; readonly agent: AgentTable; readonly prompt: string },
  { timeLimitMs, silenceMs, onOutput, signal }: AgentRunOptions = {},
): Promise<AgentRun> {
  assertPrompt(prompt);
  const endpoint = agentEndpoint(agent, sandbox.record.policy.endpoints ?? [], sandbox.name);
  const { command, env } = await prepareAgent({ sandbox, name, signal }, agent, endpoint, prompt);
  const [line = prompt] = prompt.trim().split('\n', 1);
  const words = sandbox.record.policy.requireMessage ? { message: line } : {};
  const subject = JSON.stringify(line); // in quotes it is no command: "npm test fails" shows nothing of a test
  await using attached = await sandbox.attach(
    { command: [...command], env: { ...env }, endsAll: true, recordsMeanwhile: true, tool: name, subject, ...words },
    { signal },
  );
  const { process } = attached;
  await process.closeStdin();
  const startedMs = performance.now();
  const events = new AgentEvents(agent);
  using watch = new AgentWatch(process, { timeLimitMs, silenceMs, signal });
  const { exit } = await passedOn(process, async (chunk) => {
    if (chunk.type === 'stdout-data') events.push(chunk.bytes);
    await onOutput?.(chunk);
    watch.hear(events.hasEnded);
  });
  events.end();
  const durationMs = performance.now() - startedMs;
  const { hints, ...recorded } = await attached.finish(exit);
  const { endedBy } = watch;
  const { tokens } = events;
  const exitCode = endedBy === 'after-end' ? 0 : exit.code;
  return { exitCode, endedBy, durationMs, ...(tokens && { tokens }), hints: limitsIn(hints), recorded };
}
