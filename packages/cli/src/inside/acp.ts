import { agentEndpoint, AgentLog, refuseEditor, serveAcp } from '@litterbox/agents';
import { isLitterboxError, reconcileState, visible } from '@litterbox/core';
import { agentDirectory } from '@litterbox/state-sqlite';
import { defaultStateDirectory } from 'litterbox/performer';
import { type SandboxFlags, sandboxFor } from '../commands/with.ts';
import type { Context } from '../context.ts';
import { loadForAgent } from '../load-litterbox.ts';
import type { Perform } from '../perform.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askOrCancel } from '../terminal/ask.ts';
import { agentNamed, knownAgents } from './known-agents.ts';
import { RunningAgent } from './running-agent.ts';

/** `litterbox acp AGENT`: an editor starts it, and speaks with the agent inside over standard input and output. */
export const acp: Perform = async (context, [id = ''], flags: SandboxFlags) => {
  // Standard output belongs to the protocol: whatever a library prints goes to the other stream.
  console.log = console.info = console.debug = console.error;
  try {
    await serve(context, id, flags);
  } catch (error) {
    if (isLitterboxError(error) && !process.stdin.isTTY)
      await refuseEditor(
        { input: process.stdin, output: process.stdout },
        visible([error.message, error.details.hint].join(' ').trim()),
      );
    throw error;
  }
};

async function serve(context: Context, id: string, flags: SandboxFlags): Promise<void> {
  const { talk, directory, signal, settled } = context;
  await settled();
  const root = repositoryRoot(directory) ?? directory;
  await using litterbox = await loadForAgent(directory, askOrCancel, id);
  const { agents, endpoints } = await knownAgents(litterbox, signal);
  const agent = agentNamed(agents, id);
  const seat = { id, title: agent.title, assertReady: () => agentEndpoint(agent, endpoints, '.litterbox.toml') };
  for (const sentence of await litterbox.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
  const { sandbox } = await sandboxFor(context, litterbox, seat, flags, root);
  await using _seat = await sandbox.seat(id, { signal });
  const kept = agentDirectory(defaultStateDirectory(process.env), sandbox.id);
  using log = AgentLog.begin(kept);
  using _running = RunningAgent.begin(kept);
  const streams = { input: process.stdin, output: process.stdout };
  const onOutput = ({ bytes }: { readonly bytes: Uint8Array }) => log.write(bytes);
  const onNotice = (sentence: string) => talk.notice(sentence);
  await serveAcp(sandbox, { name: id, agent }, streams, { onOutput, onNotice, signal });
  talk.notice(`See its work: litterbox diff ${sandbox.name}.`);
}
