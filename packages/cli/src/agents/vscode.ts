import { join } from 'node:path';
import type { AgentClient } from './agent-client.ts';

/**
 * VS Code. `servers` in `mcp.json`: `.vscode` of the project, or the directory of the user's profile. `${workspaceFolder}` is filled
 * in for the project's file only, and servers of the user's file start in the home directory: that one names this repository.
 * From the documentation and its issues; not tried here.
 *
 * @see https://code.visualstudio.com/docs/agents/reference/mcp-configuration
 * @see https://github.com/microsoft/vscode/issues/243526
 * @see https://code.visualstudio.com/docs/agents/agent-tools
 */
export const vscode: AgentClient = {
  id: 'vscode',
  title: 'VS Code',
  format: 'json',
  defaultScope: 'project',
  programs: ['code', 'code-insiders', 'codium'],
  traces: ({ configHome }) => [join(configHome, 'Code')],
  files: (scope, { root, configHome }) => [
    scope === 'project' ? join(root, '.vscode', 'mcp.json') : join(configHome, 'Code', 'User', 'mcp.json'),
  ],
  keyPath: (name) => ['servers', name],
  entry: ({ command, args }) => ({ type: 'stdio', command, args }),
  repositoryArguments: (scope, root) => {
    if (scope === 'project') return ['--repo', '${workspaceFolder}']; // oxlint-disable-line no-template-curly-in-string
    return root === undefined ? undefined : ['--repo', root];
  },
  advice: (scope) => [
    ...(scope === 'user' ? ['This entry is for this repository alone; --scope project is for each.'] : []),
    'To keep the agent inside, leave only the tools of Litterbox ticked: Configure Tools, in the chat view.',
  ],
};
