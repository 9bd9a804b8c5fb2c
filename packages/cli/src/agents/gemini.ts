import { join } from 'node:path';
import type { AgentClient, Places } from './agent-client.ts';
import { TOOL_TIMEOUT_SECONDS } from './tool-timeout.ts';

const geminiDirectory = ({ home, environment }: Places) => join(environment['GEMINI_CLI_HOME'] || home, '.gemini');

/**
 * Gemini CLI. `mcpServers` in `settings.json`: `~/.gemini`, or `.gemini` at the top of the project. As `gemini mcp add` of 0.61.0
 * writes it. `timeout` is in milliseconds; without it a call is given up after ten minutes. Servers of either scope are off in folders that are not trusted.
 *
 * @see https://geminicli.com/docs/reference/configuration
 * @see https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md
 */
export const gemini: AgentClient = {
  id: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  defaultScope: 'user',
  programs: ['gemini'],
  traces: (places) => [geminiDirectory(places)],
  files: (scope, places) => [
    join(scope === 'project' ? join(places.root, '.gemini') : geminiDirectory(places), 'settings.json'),
  ],
  keyPath: (name) => ['mcpServers', name],
  entry: ({ command, args }) => ({ command, args, timeout: TOOL_TIMEOUT_SECONDS * 1000 }),
  advice: () => [
    'Gemini CLI starts MCP servers only in folders that you trust.',
    'To keep the agent inside, take its own tools away in settings.json: "tools": { "exclude": ["run_shell_command", "write_file", "replace"] }',
  ],
};
