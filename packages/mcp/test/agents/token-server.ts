import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { textOf } from './dialect.ts';

/** A server over standard input and output. */
export interface ServerWords {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A server that has been started, as a client sees it. */
export interface TokenServer extends AsyncDisposable {
  /** How many tools it has. */
  readonly tools: number;
  /** The tools as clients send them to the model: name, description and the form of the arguments. */
  readonly shown: string;
  /** The whole answer to `tools/list`. */
  readonly listed: string;
  readonly instructions: string;
  /** What the model would read of a call. */
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<string>;
}

export async function tokenServer({ command, args, cwd, environment }: ServerWords): Promise<TokenServer> {
  const client = new Client({ name: 'tokens', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(
    new StdioClientTransport({ command, args: [...args], cwd, env: { ...environment }, stderr: 'ignore' }),
  );
  const { tools } = await client.listTools();
  return {
    tools: tools.length,
    shown: JSON.stringify(
      tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    ),
    listed: JSON.stringify(tools),
    instructions: client.getInstructions() ?? '',
    async call(name, input) {
      const { content, structuredContent } = await client.callTool({ name, arguments: { ...input } });
      return structuredContent === undefined ? textOf(content) : JSON.stringify(structuredContent); // as clients do
    },
    async [Symbol.asyncDispose]() {
      await client.close();
    },
  };
}
