import type { Readable, Writable } from 'node:stream';
import {
  type AgentTable,
  type CallOptions,
  LitterboxError,
  type OutputChunk,
  type RevisionResult,
  type Sandbox,
} from 'litterbox';
import { linesOf } from '../lines-of.ts';
import { passedOn } from '../passed-on.ts';
import { AcpRelay, MAX_MESSAGE_BYTES } from './acp-relay.ts';
import { agentEndpoint } from './agent-endpoint.ts';
import { prepareAgent } from './prepare-agent.ts';
import { limitsIn } from './run-agent.ts';

/** An agent that goes on without its editor is ended after so long. */
const GRACE_MS = 3_000;

/** How an editor speaks with an agent. */
export interface AcpOptions extends CallOptions {
  /** Hears all that the agent prints, hostile. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Hears sentences for the person: servers of the editor that the agent is not given, and limits that it ran into. */
  readonly onNotice?: ((sentence: string) => void) | undefined;
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
  { onOutput, onNotice, signal }: AcpOptions = {},
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
  let why = `${agent.title} ended before it answered.`;
  const end = (reason = why) => {
    why = reason;
    void process[Symbol.asyncDispose]();
  };
  const relay = new AcpRelay({
    title: agent.title,
    process,
    output,
    places: { outside: record.repositoryRoot, inside: record.workdir },
    onNotice,
    onTooLong: () => end(`${agent.title} sent a message of more than ${MAX_MESSAGE_BYTES} bytes, and was ended.`),
  });
  const hearing = (async () => {
    for await (const line of linesOf(input, MAX_MESSAGE_BYTES)) await relay.hear(line);
    await process.closeStdin();
  })()
    .catch((error: unknown) => {
      if (error instanceof RangeError) end(`The editor sent ${error.message}, and ${agent.title} was ended.`);
    }) // else it has gone
    .then(() => setTimeout(end, GRACE_MS));
  const abort = () => end();
  signal?.addEventListener('abort', abort, { once: true });
  output.on('error', abort);
  const { exit } = await passedOn(process, async (chunk) => {
    onOutput?.(chunk);
    if (chunk.type === 'stdout-data') await relay.take(chunk.bytes);
  });
  signal?.removeEventListener('abort', abort);
  await relay.refuse(`${why} Its exit code is ${exit.code}.`);
  input.destroy();
  clearTimeout(await hearing);
  const { hints, ...recorded } = await attached.finish(exit);
  for (const hint of limitsIn(hints)) onNotice?.(`hint: ${hint}`);
  return recorded;
}
