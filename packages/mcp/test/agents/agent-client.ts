import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialect, SERVER } from './dialect.ts';
import { messagesApi } from './messages-api.ts';
import { responsesApi } from './responses-api.ts';
import type { AgentFixture } from './agent-fixture.ts';

/** A client that people use, and how it is started without a terminal. */
export interface AgentClient {
  /** As `litterbox agent install` calls it. */
  readonly id: string;
  readonly title: string;
  /** Its npm package. */
  readonly name: string;
  /** Its program, below the directory of the install. */
  readonly program: string;
  readonly dialect: Dialect;
  /** Which of the two protocols of MCP it speaks; it is looked up in what it sends. */
  readonly era: 'legacy' | 'modern';
  /** What it asks its model's host for, besides turns. */
  readonly asks: readonly string[];
  /** How it names a tool of the server to the model. */
  shows(tool: string): string;
  /** What keeps its own tools away, as docs/guides/mcp.md says, and what is then left of them. */
  readonly limits: readonly Limit[];
  /** Before `litterbox agent install`. Gives what the environment must have. */
  prepare(fixture: AgentFixture, model: string): Readonly<Record<string, string>>;
  args(fixture: AgentFixture, task: string): readonly string[];
}

export interface Limit {
  readonly args: readonly string[];
  /** Whether one of the client's own tools may be offered under it. */
  allows(tool: string): boolean;
}

const KEY = 'sk-not-a-key';
const ARCH = process.arch === 'arm64' ? { npm: 'arm64', rust: 'aarch64' } : { npm: 'x64', rust: 'x86_64' };
const WRITERS = ['Bash', 'Edit', 'Write', 'NotebookEdit'];

const claudeCode: AgentClient = {
  id: 'claude',
  title: 'Claude Code',
  name: '@anthropic-ai/claude-code',
  program: `node_modules/@anthropic-ai/claude-code-linux-${ARCH.npm}/claude`,
  dialect: messagesApi,
  era: 'modern',
  asks: ['HEAD /api/hello'],
  shows: (tool) => `mcp__${SERVER}__${tool}`,
  limits: [
    { args: ['--tools', ''], allows: () => false },
    { args: ['--disallowedTools', WRITERS.join(',')], allows: (tool) => !WRITERS.includes(tool) },
  ],
  prepare: (_scene, model) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: KEY,
    ENABLE_TOOL_SEARCH: 'false', // otherwise the first turn has no tool of a server
  }),
  args({ home }, task) {
    const servers = ['--mcp-config', join(home, '.claude.json'), '--strict-mcp-config'];
    return ['-p', task, '--output-format', 'json', ...servers, '--allowedTools', `mcp__${SERVER}`];
  },
};

const codex: AgentClient = {
  id: 'codex',
  title: 'Codex',
  name: '@openai/codex',
  program: `node_modules/@openai/codex-linux-${ARCH.npm}/vendor/${ARCH.rust}-unknown-linux-musl/bin/codex`,
  dialect: responsesApi,
  era: 'legacy',
  asks: [],
  shows: (tool) => `mcp__${SERVER}.${tool.replaceAll('-', '_')}`,
  limits: [{ args: ['--sandbox', 'read-only'], allows: () => true }],
  prepare({ home }, model) {
    const directory = join(home, '.codex');
    mkdirSync(directory);
    const provider = ['[model_providers.plot]', 'name = "plot"', `base_url = "${model}/v1"`, 'wire_api = "responses"'];
    writeFileSync(
      join(directory, 'config.toml'),
      ['model = "plot"', 'model_provider = "plot"', '', ...provider, 'env_key = "PLOT_KEY"', ''].join('\n'),
    );
    return { PLOT_KEY: KEY };
  },
  args: (_scene, task) => {
    const approve = `mcp_servers.${SERVER}.default_tools_approval_mode="approve"`;
    return ['exec', '--json', '--skip-git-repo-check', '-c', approve, task];
  },
};

export const AGENT_CLIENTS: readonly AgentClient[] = [claudeCode, codex];
