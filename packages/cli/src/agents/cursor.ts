import { join } from 'node:path';
import type { AgentClient } from './agent-client.ts';

/**
 * Cursor. `mcpServers` in `.cursor/mcp.json`, of the project or of the home directory. Servers need not start in the project, so
 * it is named: Cursor fills in `${workspaceFolder}`, in the global file too. From the documentation and reports; not tried here.
 *
 * @see https://cursor.com/docs/mcp
 * @see https://github.com/getsentry/xcodebuildmcp.com/pull/15
 */
export const cursor: AgentClient = {
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  defaultScope: 'project',
  programs: ['cursor', 'cursor-agent'],
  traces: ({ home }) => [join(home, '.cursor')],
  files: (scope, { root, home }) => [join(scope === 'project' ? root : home, '.cursor', 'mcp.json')],
  keyPath: (name) => ['mcpServers', name],
  entry: ({ command, args }) => ({ type: 'stdio', command, args }),
  repositoryArguments: () => ['--repo', '${workspaceFolder}'], // oxlint-disable-line no-template-curly-in-string
  advice: () => [
    'Switch the server on in the settings of Cursor (MCP), once.',
    'Cursor keeps its own tools for files and for the terminal: say in your rules for the agent that it uses those of Litterbox.',
  ],
};
