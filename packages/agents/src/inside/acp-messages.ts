/** An editor that offers nothing: what an agent inside would ask it to do would be done outside. */
const NO_HANDS = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
/** Servers of an editor would run outside: an agent inside is given none, and none is offered. */
const NO_SERVERS = { http: false, sse: false };
/** All that an agent may begin: to tell what it does, to ask whether it may, and to take back that it asked. */
const OF_AGENTS: ReadonlySet<unknown> = new Set(['session/update', 'session/request_permission', '$/cancel_request']);
/** Members of messages that name places. */
const PLACES: ReadonlySet<string> = new Set(['cwd', 'path', 'uri']);
/** Terminals are told titles and colours by these, which some agents print before a message. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPES = /^(?:\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b\[[0-9;?]{0,64}[A-Za-z])+/;

type Message = Readonly<Record<string, unknown>>;

/** One directory as an editor and its agent name it. Absolute paths. */
export interface AcpPlaces {
  readonly outside: string;
  readonly inside: string;
}

/** A message of an editor as the agent inside gets it. */
export interface EditorMessage {
  readonly line: string;
  /** There in a request, which wants an answer. */
  readonly id?: unknown;
  /** Names of servers that the agent is not given. */
  readonly servers: readonly string[];
}

/**
 * A message of an editor as the agent inside gets it: without the editor's own hands and servers, and at work in the workspace.
 *
 * @returns undefined for what is no message
 */
export function toAgent(line: string, places: AcpPlaces): EditorMessage | undefined {
  const message = parsed(line);
  if (!message) return undefined;
  const { method } = message;
  const id = method === undefined ? undefined : message['id'];
  const params = isObject(message['params']) ? message['params'] : {};
  const { cwd, mcpServers } = params;
  const { inside, outside } = places;
  const isWithin = typeof cwd === 'string' && [inside, outside].some((top) => `${cwd}/`.startsWith(`${top}/`));
  const changed = {
    ...message,
    ...('params' in message && {
      params: {
        ...params,
        ...(method === 'initialize' && { clientCapabilities: NO_HANDS }),
        ...('cwd' in params && !isWithin && { cwd: inside }),
        ...('mcpServers' in params && { mcpServers: [] }),
      },
    }),
  };
  return {
    line: stringified(changed, outside, inside),
    ...(id !== undefined && { id }),
    servers: Array.isArray(mcpServers) ? mcpServers.map((one: unknown) => String(isObject(one) && one['name'])) : [],
  };
}

/** Whom a line of an agent inside is for: the editor, the agent itself, which is refused, or nobody. Hostile. */
export function fromAgent(
  line: string,
  places: AcpPlaces,
): { readonly toEditor?: string; readonly answers?: unknown; readonly toAgent?: string } {
  const message = parsed(line.replace(ESCAPES, ''));
  if (!message) return {};
  const { id, method, result } = message;
  const isAnswer = method === undefined && id !== undefined && ('result' in message || 'error' in message);
  if (isAnswer || OF_AGENTS.has(method)) {
    const whole = isObject(result) ? { ...message, result: withoutServers(result) } : message;
    const toEditor = written(() => stringified(whole, places.inside, places.outside));
    return toEditor === undefined ? {} : { toEditor, ...(isAnswer && { answers: id }) };
  }
  if (method === undefined || id === undefined) return {};
  const why = 'an agent inside works by what is inside, and not by its editor.';
  const toItself = written(() => refusal(id, why, -32_601));
  return toItself === undefined ? {} : { toAgent: toItself };
}

/** Nothing for what is nested deeper than can be written: it was read without recursion. */
function written(write: () => string): string | undefined {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/** Gives the id of a line that is a request. */
export function requestId(line: string): unknown {
  const { id, method } = parsed(line) ?? {};
  return method === undefined ? undefined : id;
}

/** The answer to a request that nobody else answers. */
export function refusal(id: unknown, why: string, code = -32_603): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: `litterbox: ${why}` } });
}

function withoutServers(result: Message): Message {
  const { agentCapabilities } = result;
  if (!isObject(agentCapabilities)) return result;
  return { ...result, agentCapabilities: { ...agentCapabilities, mcpCapabilities: NO_SERVERS } };
}

/** As JSON, with places below one directory as places below another. */
function stringified(message: Message, from: string, to: string): string {
  if (from === to) return JSON.stringify(message);
  return JSON.stringify(message, (key, value: unknown) => {
    if (typeof value !== 'string' || !PLACES.has(key)) return value;
    const [top, other] = value.startsWith('file://')
      ? [`file://${encodeURI(from)}`, `file://${encodeURI(to)}`]
      : [from, to];
    return value === top || value.startsWith(`${top}/`) ? `${other}${value.slice(top.length)}` : value;
  });
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
