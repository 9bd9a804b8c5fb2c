import { parseArgs } from 'node:util';
import { LitterboxError, type ToolProfile } from '@litterbox/core/agent';

/** What agents get, whichever way they come in. */
export interface McpOptions {
  /** A directory in the repository; agents cannot name another. */
  readonly repo: string;
  /** @defaultValue as configured */
  readonly profile?: ToolProfile;
  readonly prefix: string;
  readonly sandbox?: string;
  /** Who calls, as the log of calls has it. @defaultValue mcp */
  readonly actor?: string;
  /** Other agents may work in the same sandboxes at the same time. */
  readonly share?: boolean;
}

export interface ServeOptions extends McpOptions {
  /** 0: a free one. */
  readonly port: number;
  /** @defaultValue `serve.token` in the state directory */
  readonly tokenFile?: string;
}

const COMMON_HELP = `  -C, --repo <directory>   a directory in the repository (default: the current one)
  --sandbox <name>         work in this sandbox alone; its name is then no argument of the tools
  --tools <profile>        standard (read, write, edit, patch, bash, ls, glob, grep) or roadmap (sandbox-read,
                           sandbox-write, sandbox-edit, sandbox-exec with a mandatory message); default: as configured
  --tool-prefix <text>     put before the name of every tool, for clients that do not keep servers apart
  --actor <name>           who calls, as litterbox audit shows it (default: mcp)
  --share                  although another agent is at work in a sandbox
`;

export const HELP: Readonly<Record<'mcp' | 'serve', string>> = {
  mcp: `Usage: litterbox mcp [options]

Serve agents over standard input and output (Model Context Protocol). A client such as Claude Code starts it.

Options:
${COMMON_HELP}  -h, --help               show this

Examples:
  $ litterbox agent install claude
  $ claude mcp add litterbox -- litterbox mcp
  $ litterbox mcp --sandbox fix-login
`,
  serve: `Usage: litterbox serve [options]

Serve agents over HTTP on this machine (Model Context Protocol, streamable HTTP). Whoever has the token may work.

Options:
${COMMON_HELP}  --port <number>          on 127.0.0.1 (default: a free one)
  --token-file <file>      file of the token, made if it is missing (default: serve.token in the state directory)
  --e2b                    serve programs of E2B's SDK instead, with --port, --token-file (default: e2b.key) and --empty
  -h, --help               show this

Examples:
  $ litterbox serve --port 7777
  $ claude mcp add --transport http litterbox http://127.0.0.1:7777/mcp --header "Authorization: Bearer $(cat FILE)"
`,
};

const PREFIX = /^[A-Za-z0-9_-]{0,32}$/;
const ACTOR = /^[a-z][a-z0-9-]{0,31}$/;

const COMMON = {
  repo: { type: 'string', short: 'C' },
  sandbox: { type: 'string' },
  tools: { type: 'string' },
  'tool-prefix': { type: 'string' },
  actor: { type: 'string' },
  share: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @returns `help` when that is asked for. @throws LitterboxError `ARG_UNKNOWN`, `ARG_RANGE`. */
export function parseMcpOptions(args: readonly string[]): McpOptions | 'help' {
  const values = parsed('mcp', () => parseArgs({ args: [...args], options: COMMON }).values);
  return values.help ? 'help' : common('mcp', values);
}

/** @returns `help` when that is asked for. @throws LitterboxError `ARG_UNKNOWN`, `ARG_RANGE`. */
export function parseServeOptions(args: readonly string[]): ServeOptions | 'help' {
  const options = { ...COMMON, port: { type: 'string' }, 'token-file': { type: 'string' } } as const;
  const values = parsed('serve', () => parseArgs({ args: [...args], options }).values);
  if (values.help) return 'help';
  const { port = '0', 'token-file': tokenFile } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw refusal('serve', 'ARG_RANGE', `--port: got ${JSON.stringify(port)}, want 0 to 65535.`);
  return { ...common('serve', values), port: Number(port), ...(tokenFile !== undefined && { tokenFile }) };
}

interface CommonValues {
  readonly repo?: string;
  readonly sandbox?: string;
  readonly tools?: string;
  readonly 'tool-prefix'?: string;
  readonly actor?: string;
  readonly share?: boolean;
}

function common(
  verb: 'mcp' | 'serve',
  { repo = process.cwd(), tools, 'tool-prefix': prefix = '', sandbox, actor, share }: CommonValues,
): McpOptions {
  if (tools !== undefined && tools !== 'standard' && tools !== 'roadmap')
    throw refusal(verb, 'ARG_RANGE', `--tools: got ${JSON.stringify(tools)}, want standard or roadmap.`);
  if (!PREFIX.test(prefix)) {
    const wanted = 'want up to 32 letters, digits, _ and -';
    throw refusal(verb, 'ARG_RANGE', `--tool-prefix: got ${JSON.stringify(prefix)}, ${wanted}.`);
  }
  if (actor !== undefined && !ACTOR.test(actor))
    throw refusal(
      verb,
      'ARG_RANGE',
      `--actor: got ${JSON.stringify(actor)}, want up to 32 of a-z, 0-9 and -, a letter first.`,
    );
  return {
    repo,
    prefix,
    ...(actor !== undefined && { actor }),
    ...(share !== undefined && { share }),
    ...(tools !== undefined && { profile: tools }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

function parsed<Values>(verb: 'mcp' | 'serve', read: () => Values): Values {
  try {
    return read();
  } catch (error) {
    throw refusal(verb, 'ARG_UNKNOWN', error instanceof Error ? error.message : String(error));
  }
}

function refusal(verb: 'mcp' | 'serve', code: 'ARG_UNKNOWN' | 'ARG_RANGE', message: string): LitterboxError {
  return new LitterboxError(code, message, { operation: `${verb}.start`, hint: `See litterbox ${verb} --help.` });
}
