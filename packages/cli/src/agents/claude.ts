import { join } from 'node:path';
import type { AgentClient, Places } from './agent-client.ts';

const configDirectory = ({ home, environment }: Places) => environment['CLAUDE_CONFIG_DIR'] || join(home, '.claude');

/**
 * Claude Code. User scope: `mcpServers` at the top of `~/.claude.json` (of `$CLAUDE_CONFIG_DIR/.claude.json` if that is set);
 * project scope: `.mcp.json` at the top of the project. Both as `claude mcp add` of 2.1.328 writes them, tried with
 * `claude mcp list`. The server is started where `claude` was started.
 *
 * A bare name of a tool in `permissions.deny` takes the tool out of the agent's sight. Seen in what 2.1.328 sends to the model:
 * with these four, `Monitor` is gone as well, and nothing is left that writes or runs anything on this machine.
 *
 * @see https://code.claude.com/docs/en/mcp
 * @see https://code.claude.com/docs/en/permissions
 */
export const claude: AgentClient = {
  id: 'claude',
  title: 'Claude Code',
  format: 'json',
  defaultScope: 'user',
  programs: ['claude'],
  traces: (places) => [configDirectory(places)],
  files: (scope, places) => {
    if (scope === 'project') return [join(places.root, '.mcp.json')];
    return [join(places.environment['CLAUDE_CONFIG_DIR'] || places.home, '.claude.json')];
  },
  keyPath: (name) => ['mcpServers', name],
  entry: ({ command, args }) => ({ type: 'stdio', command, args }),
  advice: (scope, name, isExclusive) => [
    ...(scope === 'project' ? ['Claude Code asks each person once whether to use the servers of .mcp.json.'] : []),
    ...(isExclusive
      ? [
          `Its own tools that write and run are off ${scope === 'user' ? 'in all your projects' : 'in this project'}; uninstall gives them back.`,
        ]
      : [
          `To keep the agent inside, start it without its own tools: claude --tools "" --allowedTools mcp__${name}`,
          'Or take away only those that write and run: claude --disallowedTools "Bash,Edit,Write,NotebookEdit" (--exclusive writes that into its settings).',
        ]),
  ],
  exclusive: {
    files: (scope, places) => [
      scope === 'project'
        ? join(places.root, '.claude', 'settings.json')
        : join(configDirectory(places), 'settings.json'),
    ],
    keyPath: ['permissions', 'deny'],
    values: ['Bash', 'Edit', 'Write', 'NotebookEdit'],
  },
};
