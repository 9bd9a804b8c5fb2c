import { join } from 'node:path';
import type { AgentClient } from './agent-client.ts';
import { isConfigTable, valueAt } from './config-editor.ts';

/**
 * opencode. `opencode.json` or `opencode.jsonc`, in `~/.config/opencode` or at the top of the project; `mcp.NAME` with `command`
 * as one list. Tried with `opencode mcp list` of 1.18.33, which started the servers of both scopes in the project's directory.
 *
 * Version 2 reads the same files and the same form, and has one of its own: `mcp.servers.NAME`. That is used where a file has
 * `mcp.servers` already.
 *
 * @see https://opencode.ai/docs/mcp-servers
 * @see https://opencode.ai/docs/migrate-v1
 * @see https://opencode.ai/docs/permissions
 */
export const opencode: AgentClient = {
  id: 'opencode',
  title: 'opencode',
  format: 'json',
  defaultScope: 'user',
  programs: ['opencode'],
  traces: ({ configHome }) => [join(configHome, 'opencode')],
  files: (scope, { root, configHome }) => {
    const directory = scope === 'project' ? root : join(configHome, 'opencode');
    return [join(directory, 'opencode.json'), join(directory, 'opencode.jsonc')];
  },
  keyPath: (name, document) => (isSecondForm(document) ? ['mcp', 'servers', name] : ['mcp', name]),
  entry: ({ command, args }, document) => ({
    type: 'local',
    command: [command, ...args],
    ...(!isSecondForm(document) && { enabled: true }),
  }),
  advice: () => [
    'To keep the agent inside, deny it its own tools in opencode.json: "permission": { "bash": "deny", "edit": "deny" }',
  ],
};

/** A server of the first form could be called `servers`; it would have a type. */
function isSecondForm(document: unknown): boolean {
  const servers = valueAt(document, ['mcp', 'servers']);
  return isConfigTable(servers) && typeof servers['type'] !== 'string';
}
