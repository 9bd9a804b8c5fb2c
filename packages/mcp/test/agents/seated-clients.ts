import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_CLIENTS } from './agent-client.ts';
import type { SeatedClient } from './drive-seat.ts';
import { messagesApi } from './messages-api.ts';

const client = (wanted: string) =>
  AGENT_CLIENTS.find(({ id }) => id === wanted) ?? assert.fail(`no client is named ${wanted}`);

/** Driven by `litterbox with` alone: it needs no configuration of ours. */
const pi: SeatedClient['client'] = {
  id: 'pi',
  title: 'pi',
  name: '@earendil-works/pi-coding-agent',
  program: 'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js',
  dialect: messagesApi,
  prepare({ home }, baseUrl) {
    const directory = join(home, '.pi', 'agent');
    mkdirSync(directory, { recursive: true });
    const models = [{ id: 'plot', name: 'plot', contextWindow: 100_000, maxTokens: 1000 }];
    const plot = { baseUrl, api: 'anthropic-messages', apiKey: 'none', models };
    writeFileSync(join(directory, 'models.json'), JSON.stringify({ providers: { plot } }));
    return { PI_OFFLINE: '1' };
  },
};

/** The clients that `litterbox with` starts. */
export const SEATED_CLIENTS: readonly SeatedClient[] = [
  {
    client: client('claude'),
    tool: 'Bash',
    input: (command) => ({ command, description: 'The next step' }),
    args: (task) => ['-p', task, '--output-format', 'json'],
  },
  {
    client: client('codex'),
    tool: 'exec_command',
    input: (command) => ({ cmd: command }),
    args: (task) => ['exec', '--json', '--skip-git-repo-check', task],
  },
  {
    client: pi,
    tool: 'bash',
    input: (command) => ({ command }),
    args: (task) => ['--print', '--mode', 'json', '--model', 'plot/plot', task],
  },
];
