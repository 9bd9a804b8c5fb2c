import { LitterboxError, type OperationOptions, type PermissionRequest } from '@litterbox/core/agent';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';

const KEY = 'allow';
const ANSWER = z.object({ allow: z.boolean().meta({ title: 'Allow it' }) });

/** A question that has no answer yet. The client asks it, and sends the call again with what the person said. */
export class Unanswered extends Error {
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super('The person has not answered yet.');
    this.result = result;
  }
}

/**
 * Asks the person at the client. The call comes in twice: nothing may be done before the answer is there.
 *
 * @throws {@link Unanswered} the first time; LitterboxError `PERMISSION_DENIED` when the person did not agree, or when the client cannot ask.
 */
export function askPerson({ question, otherwise }: PermissionRequest, server: McpServer, context: ServerContext): void {
  const denied = (why: string) =>
    new LitterboxError('PERMISSION_DENIED', why, { operation: 'permission.ask', hint: [otherwise] });
  if (!canAsk(server, context)) throw denied('Only the person can allow this, and the client cannot ask them.');
  if (!isAllowed(KEY, question, context)) throw denied('The person did not allow it.');
}

/** After so long without an answer a client is taken for one that shows no questions, whatever it says of itself. */
const PATIENCE_MS = 60_000;

/**
 * Questions that wait for an answer, of all clients. Some clients say that they can ask, show nothing, and give the call up minutes later:
 * the same question is not asked twice, and after a minute no other one is.
 */
export class OpenQuestions {
  readonly #askedAtMs = new Map<string, number>();

  /** Whether it may be asked now. It is open then. */
  opens(question: string): boolean {
    const nowMs = performance.now();
    const isSilent = [...this.#askedAtMs.values()].some((askedAtMs) => nowMs - askedAtMs > PATIENCE_MS);
    if (isSilent || this.#askedAtMs.has(question)) return false;
    this.#askedAtMs.set(question, nowMs);
    return true;
  }

  close(question: string): void {
    this.#askedAtMs.delete(question);
  }
}

/** How a call asks the person for what they may give to it; nothing at a client that cannot ask. */
export function giftsOf(server: McpServer, context: ServerContext, open: OpenQuestions): Pick<OperationOptions, 'ask'> {
  if (!canAsk(server, context)) return {};
  return {
    ask: async ({ key, question }) => {
      const isAnswered = inputResponse(context.mcpReq.inputResponses, key).kind !== 'missing';
      if (isAnswered) open.close(question);
      else if (!open.opens(question)) return false;
      return isAllowed(key, question, context);
    },
  };
}

/** The newer form of the protocol says with each request what the client can do, the older once at the start. */
function canAsk(server: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const current = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return (current ?? server.server.getClientCapabilities())?.elicitation !== undefined;
}

function isAllowed(key: string, question: string, { mcpReq }: ServerContext): boolean {
  if (inputResponse(mcpReq.inputResponses, key).kind === 'missing')
    throw new Unanswered(
      inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message: question, requestedSchema: ANSWER }) } }),
    );
  return acceptedContent(mcpReq.inputResponses, key, ANSWER)?.allow === true;
}
