import { parseArgs } from 'node:util';
import { LitterboxError, type ToolProfile } from '@litterbox/core/agent';

/** What the words after `litterbox mcp` ask for. */
export interface McpOptions {
  /** A directory in the repository; agents cannot name another. */
  readonly repo: string;
  /** @defaultValue as configured */
  readonly profile?: ToolProfile;
  readonly prefix: string;
  readonly sandbox?: string;
}

export const MCP_HELP = `Usage: litterbox mcp [options]

Serve agents over standard input and output (Model Context Protocol). A client such as Claude Code starts it.

Options:
  -C, --repo <directory>   a directory in the repository (default: the current one)
  --sandbox <name>         work in this sandbox alone; its name is then no argument of the tools
  --tools <profile>        standard (read, write, patch, bash, ls, glob, grep) or roadmap (sandbox-read,
                           sandbox-write, sandbox-exec with a mandatory message); default: as configured
  --tool-prefix <text>     put before the name of every tool, for clients that do not keep servers apart
  -h, --help               show this

Examples:
  $ claude mcp add litterbox -- litterbox mcp
  $ litterbox mcp --sandbox fix-login
`;

const PREFIX = /^[A-Za-z0-9_-]{0,32}$/;

/** @returns `help` when that is asked for. @throws LitterboxError `ARG_UNKNOWN`, `ARG_RANGE`, `ARG_MISSING`. */
export function parseMcpOptions(args: readonly string[]): McpOptions | 'help' {
  const { values } = parsed(args);
  if (values.help) return 'help';
  const { repo = process.cwd(), tools, 'tool-prefix': prefix = '', sandbox } = values;
  if (tools !== undefined && tools !== 'standard' && tools !== 'roadmap')
    throw refusal('ARG_RANGE', `--tools: got ${JSON.stringify(tools)}, want standard or roadmap.`);
  if (!PREFIX.test(prefix))
    throw refusal('ARG_RANGE', `--tool-prefix: got ${JSON.stringify(prefix)}, want up to 32 letters, digits, _ and -.`);
  return { repo, prefix, ...(tools !== undefined && { profile: tools }), ...(sandbox !== undefined && { sandbox }) };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        repo: { type: 'string', short: 'C' },
        sandbox: { type: 'string' },
        tools: { type: 'string' },
        'tool-prefix': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw refusal('ARG_UNKNOWN', error instanceof Error ? error.message : String(error));
  }
}

function refusal(code: 'ARG_UNKNOWN' | 'ARG_RANGE', message: string): LitterboxError {
  return new LitterboxError(code, message, { operation: 'mcp.start', hint: 'See litterbox mcp --help.' });
}
