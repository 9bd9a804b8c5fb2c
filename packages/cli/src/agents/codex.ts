import { join } from 'node:path';
import type { AgentClient, Places } from './agent-client.ts';
import { TOOL_TIMEOUT_SECONDS } from './tool-timeout.ts';

const codexHome = ({ home, environment }: Places) => environment['CODEX_HOME'] || join(home, '.codex');

/**
 * Codex. User scope: `[mcp_servers.NAME]` in `config.toml` of `CODEX_HOME`, by default `~/.codex`; project scope:
 * `.codex/config.toml`, which Codex reads in trusted projects only. Both tried with `codex mcp list` of 0.169.0.
 *
 * Codex hands a server few variables (`HOME`, `PATH`, `TERM` and the like), so the two that tell where Litterbox keeps its state
 * are named: without them the server and the command line could see different sandboxes. The server is started where the
 * session works. Without `tool_timeout_sec` Codex gives up a call after a minute.
 *
 * `environments.toml` in `CODEX_HOME` names servers that run Codex's commands and keep its files. Codex 0.169.0 starts the program of one
 * where Codex itself was started, with its whole environment, and speaks with it in lines; seen between the two.
 *
 * @see https://developers.openai.com/codex/mcp
 * @see https://developers.openai.com/codex/concepts/sandboxing
 */
export const codex: AgentClient = {
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  defaultScope: 'user',
  programs: ['codex'],
  traces: (places) => [codexHome(places)],
  files: (scope, places) => [
    join(scope === 'project' ? join(places.root, '.codex') : codexHome(places), 'config.toml'),
  ],
  keyPath: (name) => ['mcp_servers', name],
  entry: ({ command, args }) => ({
    command,
    args,
    env_vars: ['LITTERBOX_HOME', 'XDG_STATE_HOME'],
    tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
  }),
  hands: { file: (places) => join(codexHome(places), 'environments.toml') },
  advice: (scope) => [
    ...(scope === 'project' ? ['Codex reads .codex/config.toml only in projects that you trust.'] : []),
    'To keep the agent inside, let its own commands only read: codex --sandbox read-only',
  ],
};
