import { type CallToolResult, Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** The protocol's two forms: with a handshake, and with all that is needed in each request. */
export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

/** Whether what is built is run, and not the sources. */
const isBuilt = process.env['LITTERBOX_TEST_BUILT'] !== undefined;

/**
 * The server, by path: its own tests use this package, and packages must not need each other. As with the command
 * line of the attacks, what runs is a process, not an import.
 */
const START = new URL(isBuilt ? '../../../mcp/bundle/start.cjs' : '../../../mcp/src/start.ts', import.meta.url)
  .pathname;

/** The words after `node` that start the server. */
export const serverArguments = (args: readonly string[], verb: 'mcp' | 'serve' = 'mcp'): readonly string[] => [
  '--no-warnings',
  ...(isBuilt ? [] : ['--conditions=@litterbox/source']),
  '--input-type=module',
  '-e',
  `import { start } from ${JSON.stringify(START)}; await start(${JSON.stringify(verb)}, ${JSON.stringify(args)});`,
];

/** The SDK gives up after a minute, which a crowd on a busy machine may take for one call. */
const PATIENCE_MS = 300_000;

/** What a client got back of one call. */
export interface Answer {
  readonly isError: boolean;
  /** All parts of the text, one after the other. */
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** What stands under `dev.litterbox/…`. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly result: CallToolResult;
}

export interface AgentClientOptions {
  readonly repository: string;
  /** All of the server's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** After `litterbox mcp --repo …`. */
  readonly args?: readonly string[];
  /** @defaultValue modern */
  readonly era?: Era;
  readonly client?: ClientOptions;
  /** Told of each message that the server sends after the first, as JSON, and of all that it says on standard error. */
  readonly onHeard?: (where: string, text: string) => void;
}

/** A real client of a real `litterbox mcp`. */
export interface AgentClient extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  /** What the server said on standard error until now. */
  stderr(): string;
  call(name: string, input: Record<string, unknown>, options?: Parameters<Client['callTool']>[1]): Promise<Answer>;
}

export async function connectAgent(options: AgentClientOptions): Promise<AgentClient> {
  const { repository, environment, args = [], era = 'modern', client: clientOptions, onHeard } = options;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...serverArguments(['--repo', repository, ...args])],
    env: { ...environment },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
    onHeard?.('the standard error of the server', bytes.toString());
  });
  const client = new Client(
    { name: 'agent', version: '1' },
    { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } }, ...clientOptions },
  );
  await client.connect(transport);
  if (onHeard) {
    onHeard('the instructions', client.getInstructions() ?? '');
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
    transport.onmessage = (message) => {
      onHeard('a message of the server', JSON.stringify(message));
      onmessage?.(message);
    };
  }
  return {
    client,
    pid: transport.pid ?? -1,
    stderr: () => stderr,
    call: async (name, input, more) =>
      answerOf(await client.callTool({ name, arguments: input }, { timeout: PATIENCE_MS, ...more })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function answerOf(result: CallToolResult): Answer {
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  const [meta = {}] = Object.entries(result._meta ?? {}).flatMap(([key, value]) =>
    key.startsWith('dev.litterbox/') ? [value as Record<string, unknown>] : [],
  );
  const facts = (result.structuredContent ?? {}) as Record<string, unknown>;
  return { isError: result.isError === true, text, facts, meta, result };
}
