import {
  AGENT_PROMPTS,
  AGENT_RESOURCES,
  type AgentResource,
  boundOperation,
  boundSandbox,
  type OfferedTool,
  type OperationOptions,
  visible,
} from '@litterbox/core/agent';
import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Performer } from 'litterbox/agent';
import { type CallSetting, callTool } from './call-tool.ts';
import { errorResult, type ErrorFormat } from './error-result.ts';
import { rawSchema } from './raw-schema.ts';

/** What a server offers; the same for every connection. */
export interface ServerSpec extends CallSetting {
  readonly litterbox: Performer;
  readonly tools: readonly OfferedTool[];
  readonly instructions: string;
  /** The one sandbox that is worked in: its slug. */
  readonly sandbox?: string | undefined;
  readonly version: string;
  /** The names of the sandboxes that may be worked in. */
  names(options?: OperationOptions): Promise<readonly string[]>;
}

/** The whole adapter: a loop over what core offers. It has no schema, no rule and no word of its own. */
export function buildServer(offer: ServerSpec): McpServer {
  const { litterbox, tools, instructions, version } = offer;
  const server = new McpServer({ name: 'litterbox', title: 'Litterbox', version }, { instructions });
  for (const tool of tools) {
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: rawSchema(tool.input),
        ...(tool.facts && { outputSchema: rawSchema(tool.facts) }),
        annotations: annotationsOf(tool),
      },
      async (given: unknown, context: ServerContext) => await callTool(litterbox, tool, given, server, context, offer),
    );
  }
  // Tools are looked up by name in a plain object, which has more names than tools: `constructor` would be a tool that is disabled.
  Object.setPrototypeOf(Reflect.get(server, '_registeredTools'), null);
  nameTools(
    server,
    tools.map(({ name }) => name),
  );
  offerResources(server, offer);
  offerPrompts(server, offer);
  return server;
}

/** What differs from the protocol's defaults: a tool that only reads needs no word on whether it destroys or repeats. */
function annotationsOf({ effect, isIdempotent, isOpenWorld }: OfferedTool) {
  return {
    ...(effect === 'read'
      ? { readOnlyHint: true }
      : // Every state of the files before stays in the history.
        { destructiveHint: false, ...(isIdempotent && { idempotentHint: true }) }),
    openWorldHint: isOpenWorld,
  };
}

type Call = { readonly params?: { readonly name?: unknown; readonly arguments?: unknown } };
type CallHandler = (request: Call, context: unknown) => Promise<unknown>;

/**
 * Who calls a tool that is not there learns which are: models guess the names that they know from elsewhere. Arguments that are null are
 * arguments that were left out.
 */
function nameTools({ server }: McpServer, names: readonly string[]): void {
  const handlers = Reflect.get(server, '_requestHandlers') as Map<string, CallHandler>;
  const call = handlers.get('tools/call');
  if (!call) throw new Error('The SDK keeps its handlers elsewhere.');
  handlers.set('tools/call', async (request, context) => {
    const name = request.params?.name;
    if (typeof name !== 'string' || names.includes(name)) return await call(withoutNull(request), context);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Tool ${visible(name.slice(0, 100))} not found. There are: ${names.join(', ')}.`,
    );
  });
}

function withoutNull(request: Call): Call {
  if (request.params?.arguments !== null) return request;
  const { arguments: _null, ...params } = request.params;
  return { ...request, params };
}

const uriOf = (sandbox: string, resource: string) => `litterbox://${sandbox}/${resource}`;

function offerResources(server: McpServer, offer: ServerSpec): void {
  for (const resource of AGENT_RESOURCES) {
    const { name, title, description, mimeType } = resource;
    const list = async (context: ServerContext) => ({
      resources: (await offer.names({ signal: context.mcpReq.signal })).map((sandbox) => ({
        uri: uriOf(sandbox, name),
        name: `${sandbox} ${name}`,
      })),
    });
    server.registerResource(
      name,
      new ResourceTemplate(`litterbox://{sandbox}/${name}`, {
        list,
        complete: { sandbox: async (start) => (await offer.names()).filter((one) => one.startsWith(start)) },
      }),
      { title, description, mimeType },
      async (uri, variables, { mcpReq }) => {
        const text = await textOf(offer, resource, String(variables['sandbox']), { signal: mcpReq.signal });
        return { contents: [{ uri: uri.href, mimeType, text }] };
      },
    );
  }
}

function offerPrompts(server: McpServer, offer: ServerSpec): void {
  for (const { name, title, description, input, text, resource } of AGENT_PROMPTS) {
    server.registerPrompt(name, { title, description, argsSchema: input }, async (given, { mcpReq }) => {
      const found = AGENT_RESOURCES.find((one) => one.name === resource);
      const words = { role: 'user' as const, content: { type: 'text' as const, text: text(given) } };
      const { sandbox } = given;
      if (!found || sandbox === undefined) return { messages: [words] };
      const content = await textOf(offer, found, sandbox, { signal: mcpReq.signal });
      const attached = { uri: uriOf(sandbox, found.name), mimeType: found.mimeType, text: content };
      return { messages: [words, { role: 'user', content: { type: 'resource', resource: attached } }] };
    });
  }
}

/** Who is bound to one sandbox gets at no other by these doors either. */
async function textOf(
  { litterbox, sandbox: only, telling }: ServerSpec,
  { operation }: AgentResource,
  sandbox: string,
  options: OperationOptions,
): Promise<string> {
  return await readable(telling, () =>
    only === undefined
      ? litterbox.perform(operation, { sandbox }, options)
      : litterbox.perform(boundOperation(operation), { sandbox: boundSandbox(only, sandbox) }, options),
  );
}

/** Outside of tools a failure is an error of the protocol: its message is all that a client shows. */
async function readable(telling: ErrorFormat, body: () => Promise<string>): Promise<string> {
  try {
    return await body();
  } catch (error) {
    const [first] = errorResult(error, telling).content;
    throw new Error(first?.type === 'text' ? first.text : 'INTERNAL', { cause: error });
  }
}
