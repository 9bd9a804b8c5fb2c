import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import {
  type AgentTable,
  type CallOptions,
  LitterboxError,
  type OutputChunk,
  type RevisionResult,
  type Sandbox,
} from 'litterbox';
import { LineSplitter } from 'litterbox/agent';
import { linesOf } from '../lines-of.ts';
import { passedOn } from '../passed-on.ts';
import { fromAgent, toAgent } from './acp-messages.ts';
import { agentEndpoint } from './agent-endpoint.ts';
import { prepareAgent } from './prepare-agent.ts';

const MAX_MESSAGE_BYTES = 16 * 2 ** 20;
/** An agent that goes on without its editor is ended after so long. */
const GRACE_MS = 3_000;

/** How an editor speaks with an agent. */
export interface AcpOptions extends CallOptions {
  /** Hears all that the agent prints, hostile. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

/**
 * Lets an editor speak with an agent inside over the Agent Client Protocol, a line for each message, until either ends. The agent has
 * nothing of the editor but its words: neither its files, nor its terminals, nor its servers.
 *
 * @throws LitterboxError as `runAgent`; `UNSUPPORTED` for an agent that does not speak it
 */
export async function serveAcp(
  sandbox: Pick<Sandbox, 'attach' | 'record' | 'name'>,
  { name, agent }: { readonly name: string; readonly agent: AgentTable },
  { input, output }: { readonly input: Readable; readonly output: Writable },
  { onOutput, signal }: AcpOptions = {},
): Promise<RevisionResult> {
  const { record } = sandbox;
  if (!agent.acp)
    throw new LitterboxError('UNSUPPORTED', `${agent.title} does not speak the Agent Client Protocol by itself.`, {
      operation: 'agent.acp',
      hint: `Write acp = ["--acp"] below [agents.${name}] where it does; else use litterbox agent run.`,
    });
  const endpoint = agentEndpoint(agent, record.policy.endpoints ?? [], sandbox.name);
  const { command, env } = await prepareAgent({ sandbox, name, signal }, { ...agent, args: agent.acp }, endpoint, '');
  const [subject, message] = ['(for an editor)', `${agent.title} for an editor`];
  const words = record.policy.requireMessage ? { message } : {};
  await using attached = await sandbox.attach(
    { command: [...command], env: { ...env }, endsAll: true, recordsMeanwhile: true, tool: name, subject, ...words },
    { signal },
  );
  const { process } = attached;
  const end = () => void process[Symbol.asyncDispose]();
  const send = async (line: string) => await process.write(Buffer.from(`${line}\n`));
  const hearing = (async () => {
    for await (const line of linesOf(input, MAX_MESSAGE_BYTES)) {
      const message = toAgent(line, record.workdir);
      if (message !== undefined) await send(message);
    }
    await process.closeStdin();
  })()
    .catch(() => {}) // it has gone, or says what nobody can read
    .then(() => setTimeout(end, GRACE_MS));
  const lines: string[] = [];
  const splitter = new LineSplitter(MAX_MESSAGE_BYTES, (bytes) => lines.push(Buffer.from(bytes).toString('utf8')), end);
  signal?.addEventListener('abort', end, { once: true });
  output.on('error', end);
  const { exit } = await passedOn(process, async (chunk) => {
    onOutput?.(chunk);
    if (chunk.type !== 'stdout-data') return;
    splitter.take(chunk.bytes);
    for (const line of lines.splice(0)) {
      const { toEditor, toAgent: refusal } = fromAgent(line);
      if (refusal !== undefined) await send(refusal);
      if (toEditor !== undefined && output.writable && !output.write(`${toEditor}\n`)) await once(output, 'drain');
    }
  });
  signal?.removeEventListener('abort', end);
  input.destroy();
  clearTimeout(await hearing);
  const { hints: _hints, ...recorded } = await attached.finish(exit);
  return recorded;
}
