import { LitterboxError, type PermissionRequest } from '@litterbox/core/agent';
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

/**
 * Asks the person at the client. The call comes in twice: nothing may be done before the answer is there.
 *
 * @returns what to answer with so that the client asks; `undefined` when the person agreed
 * @throws LitterboxError `PERMISSION_DENIED` when the person did not, or when the client cannot ask.
 */
export function askPerson(
  { question, otherwise }: PermissionRequest,
  server: McpServer,
  { mcpReq }: ServerContext,
): InputRequiredResult | undefined {
  const denied = (why: string) =>
    new LitterboxError('PERMISSION_DENIED', why, {
      operation: 'permission.ask',
      hint: otherwise,
    });
  // Told with each request in the newer form of the protocol, once at the start in the older.
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const told = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const capabilities = told ?? server.server.getClientCapabilities();
  if (!capabilities?.elicitation) throw denied('This needs the yes of a person, whom the client cannot ask.');
  if (inputResponse(mcpReq.inputResponses, KEY).kind === 'missing')
    return inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit({ message: question, requestedSchema: ANSWER }) },
    });
  if (acceptedContent(mcpReq.inputResponses, KEY, ANSWER)?.allow === true) return undefined;
  throw denied('The person did not allow it.');
}
