import { chatApi } from './chat-api.ts';
import type { InsideClient } from './drive-inside.ts';
import { geminiApi } from './gemini-api.ts';
import { messagesApi } from './messages-api.ts';
import { SEATED_CLIENTS } from './seated-clients.ts';

const ARCH = process.arch === 'arm64' ? 'arm64' : 'x64';

/** A model that Codex does not know has `exec_command`. */
const CODEX = `[agents.codex]
args = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "plot", "-c", 'openai_base_url="{url}/v1"', "{prompt}"]
`;

const described = (command: string) => ({ command, description: 'The next step' });

/** Agents that `litterbox agent run` has inside. */
export const INSIDE_CLIENTS: readonly InsideClient[] = [
  ...SEATED_CLIENTS.map(
    (seated): InsideClient => ({
      ...seated,
      ...(seated.client.id === 'codex' ? { kind: 'openai', table: CODEX } : { kind: 'anthropic' }),
    }),
  ),
  {
    client: {
      id: 'gemini',
      title: 'Gemini CLI',
      name: '@google/gemini-cli',
      program: 'node_modules/.bin/gemini',
      dialect: geminiApi,
    },
    tool: 'run_shell_command',
    input: described,
    kind: 'gemini',
  },
  {
    client: {
      id: 'opencode',
      title: 'opencode',
      name: 'opencode-ai',
      program: `node_modules/opencode-linux-${ARCH}/bin/opencode`,
      dialect: messagesApi,
    },
    tool: 'bash',
    input: described,
    kind: 'anthropic',
  },
  {
    client: {
      id: 'qwen',
      title: 'Qwen Code',
      name: '@qwen-code/qwen-code',
      program: 'node_modules/.bin/qwen',
      dialect: chatApi,
    },
    tool: 'run_shell_command',
    input: (command) => ({ ...described(command), is_background: false }),
    kind: 'openai',
  },
  {
    client: {
      id: 'copilot',
      title: 'Copilot CLI',
      name: '@github/copilot',
      program: `node_modules/@github/copilot-linux-${ARCH}/copilot`,
      dialect: chatApi,
    },
    tool: 'bash',
    input: described,
    kind: 'openai',
  },
];
