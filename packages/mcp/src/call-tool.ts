import type { OfferedTool, ToolAnswer } from '@litterbox/core/agent';
import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Performer } from 'litterbox/agent';
import { agentName } from './agent-name.ts';
import { askPerson, giftsOf, type OpenQuestions, Unanswered } from './ask-person.ts';
import { errorResult, type ErrorFormat } from './error-result.ts';
import { reportProgress } from './report-progress.ts';

/** What all calls of a server have. */
export interface CallSetting {
  readonly telling: ErrorFormat;
  /** What no person has answered yet. */
  readonly questions: OpenQuestions;
  /** What people call the agent. @defaultValue as its client calls itself */
  readonly actor?: string | undefined;
  /** Other agents may work in the same sandboxes at the same time. */
  readonly isSharing: boolean;
}

/** Carries out one call of a tool. Rejects only when the client took it back. */
export async function callTool(
  litterbox: Performer,
  { operation, inputOf, asks }: OfferedTool,
  given: unknown,
  server: McpServer,
  context: ServerContext,
  { telling, questions, isSharing, actor }: CallSetting,
): Promise<CallToolResult | InputRequiredResult> {
  const { mcpReq } = context;
  using progress = reportProgress(mcpReq);
  try {
    const { signal } = mcpReq;
    const request = asks(given);
    if (request) askPerson(request, server, context);
    const input = inputOf(given) as Record<string, unknown>; // checked where every door's input is checked
    const callId = clientsCallId(mcpReq._meta);
    const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
    const client = envelope['io.modelcontextprotocol/clientInfo'] ?? server.server.getClientVersion();
    const seatOf = isSharing ? undefined : (actor ?? agentName(client));
    const options = { signal, callId, seatOf, ...progress.listeners, ...giftsOf(server, context, questions) };
    return resultOf(operation.name, await litterbox.perform(operation, input, options));
  } catch (error) {
    if (error instanceof Unanswered) return error.result;
    mcpReq.signal.throwIfAborted();
    return errorResult(error, telling);
  }
}

/** As Claude Code 2.1.328 and Codex 0.169.0 send it beside the arguments of a call. */
const clientsCallId = (meta: Readonly<Record<string, unknown>> = {}) => {
  const id = [meta['claudecode/toolUseId'], meta['callId']].find((one) => typeof one === 'string');
  return typeof id === 'string' ? id : undefined;
};

/** What a client shows a model is either text or facts; the rest is for programs. */
function resultOf(name: string, answer: ToolAnswer): CallToolResult {
  if (answer.type === 'facts') {
    return {
      content: [{ type: 'text', text: JSON.stringify(answer.facts) }],
      structuredContent: { ...answer.facts },
    };
  }
  const { text, image } = answer;
  return {
    content: [
      ...text.map((part) => ({ type: 'text' as const, text: part })),
      ...(image
        ? [{ type: 'image' as const, mimeType: image.mimeType, data: Buffer.from(image.bytes).toString('base64') }]
        : []),
    ],
    _meta: { [`dev.litterbox/${name}`]: answer.meta },
  };
}
