import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { type ScratchRepository, scratchRepository } from '@litterbox/hardening';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { type CallToolResult, Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createLitterbox, type Litterbox } from 'litterbox';

export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

const START = createRequire(import.meta.url).resolve('../src/start.ts');

/** The words that start the server from its sources. */
export const serverArguments = (args: readonly string[], verb: 'mcp' | 'serve' = 'mcp'): readonly string[] => [
  '--no-warnings',
  '--conditions=@litterbox/source',
  '--input-type=module',
  '-e',
  `import { start } from ${JSON.stringify(START)}; await start(${JSON.stringify(verb)}, ${JSON.stringify(args)});`,
];

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

/** A repository, and a real client of a real server on it. */
export interface McpDesk extends AsyncDisposable {
  readonly scratch: ScratchRepository;
  readonly client: Client;
  /** The person beside the agent. */
  readonly person: Litterbox;
  readonly environment: Readonly<Record<string, string>>;
  /** What the server said on standard error. */
  stderr(): string;
  pid(): number;
  call(name: string, input: Record<string, unknown>, options?: Parameters<Client['callTool']>[1]): Promise<Answer>;
  /** A call that has to work; its text. */
  text(name: string, input: Record<string, unknown>): Promise<string>;
  /** A call that has to fail; its code. */
  code(name: string, input: Record<string, unknown>): Promise<string>;
  /** One more client on the same repository. */
  connect(args?: readonly string[], options?: ClientOptions): Promise<Client>;
}

/** Deletes the sandboxes of a scratch repository, whose files may belong to users of their own, and then the repository. */
export async function clear(scratch: ScratchRepository): Promise<void> {
  const { repository, stateDirectory } = scratch;
  const last = createLitterbox({ repo: repository, providers: [overlayfs], stateDirectory });
  for (const { name } of await last.list()) await last.delete(name, { force: true });
  await last[Symbol.asyncDispose]();
  scratch[Symbol.dispose]();
}

export async function mcpDesk({
  era = 'modern',
  args = [],
  files,
  client: clientOptions,
}: {
  readonly era?: Era;
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly client?: ClientOptions;
} = {}): Promise<McpDesk> {
  const scratch = scratchRepository(files);
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: scratch.directory,
    LITTERBOX_HOME: scratch.stateDirectory,
    LC_ALL: 'C.UTF-8',
  };
  let stderr = '';
  const clients: Client[] = [];
  const transports: StdioClientTransport[] = [];
  const connect = async (more: readonly string[] = args, options: ClientOptions = {}) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...serverArguments(['--repo', scratch.repository, ...more])],
      env: environment,
      stderr: 'pipe',
    });
    transport.stderr?.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
    const connected = new Client(
      { name: 'desk', version: '1' },
      { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } }, ...options },
    );
    await connected.connect(transport);
    clients.push(connected);
    transports.push(transport);
    return connected;
  };
  const client = await connect(args, clientOptions);
  const person = createLitterbox({
    repo: scratch.repository,
    providers: [overlayfs],
    stateDirectory: scratch.stateDirectory,
    actor: 'person',
  });
  const call: McpDesk['call'] = async (name, input, options) => {
    const result = await client.callTool({ name, arguments: input }, options);
    const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    const [meta = {}] = Object.entries(result._meta ?? {}).flatMap(([key, value]) =>
      key.startsWith('dev.litterbox/') ? [value as Record<string, unknown>] : [],
    );
    const facts = (result.structuredContent ?? {}) as Record<string, unknown>;
    return { isError: result.isError === true, text, facts, meta, result };
  };
  return {
    scratch,
    client,
    person,
    environment,
    stderr: () => stderr,
    pid: () => transports[0]?.pid ?? -1,
    connect,
    call,
    async text(name, input) {
      const answer = await call(name, input);
      expect([name, answer.isError ? answer.text : 'done']).toEqual([name, 'done']);
      return answer.text;
    },
    async code(name, input) {
      const { isError, text, meta } = await call(name, input);
      expect([name, isError]).toEqual([name, true]);
      expect(text.startsWith(`${String(meta['code'])}: `)).toBe(true);
      return String(meta['code']);
    },
    async [Symbol.asyncDispose]() {
      for (const one of clients) await one.close();
      await person[Symbol.asyncDispose]();
      await clear(scratch);
    },
  };
}
