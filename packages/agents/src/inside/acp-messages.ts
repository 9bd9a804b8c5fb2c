/** An editor that offers nothing: what an agent inside would ask it to do would be done outside. */
const NO_HANDS = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
/** All that an agent may begin: to tell what it does, and to ask whether it may. */
const OF_AGENTS: ReadonlySet<unknown> = new Set(['session/update', 'session/request_permission']);

type Message = Readonly<Record<string, unknown>>;

/**
 * A message of an editor as the agent inside gets it: without the editor's own hands and servers, and at work in the workspace.
 *
 * @param workdir absolute, inside
 * @returns undefined for what is no message
 */
export function toAgent(line: string, workdir: string): string | undefined {
  const message = parsed(line);
  if (!message) return undefined;
  const params = isObject(message['params']) ? message['params'] : {};
  const { cwd } = params;
  const isWithin = typeof cwd === 'string' && `${cwd}/`.startsWith(`${workdir}/`);
  return JSON.stringify({
    ...message,
    ...('params' in message && {
      params: {
        ...params,
        ...(message['method'] === 'initialize' && { clientCapabilities: NO_HANDS }),
        ...('cwd' in params && !isWithin && { cwd: workdir }),
        ...('mcpServers' in params && { mcpServers: [] }),
      },
    }),
  });
}

/** Whom a line of an agent inside is for: the editor, the agent itself, which is refused, or nobody. Hostile. */
export function fromAgent(line: string): { readonly toEditor?: string; readonly toAgent?: string } {
  const message = parsed(line);
  if (!message) return {};
  const { id, method } = message;
  const isAnswer = method === undefined && id !== undefined && ('result' in message || 'error' in message);
  if (isAnswer || OF_AGENTS.has(method)) return { toEditor: JSON.stringify(message) };
  if (method === undefined || id === undefined) return {};
  const error = {
    code: -32_601,
    message: 'litterbox: an agent inside works by what is inside, and not by its editor.',
  };
  return { toAgent: JSON.stringify({ jsonrpc: '2.0', id, error }) };
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
