import { expect, test } from '@jest/globals';
import { agentsOf } from './agent-table.ts';
import { parseConfig } from './parse-config.ts';

const agentsFrom = (text: string) => agentsOf(parseConfig(text, 'c.toml').config.agents);
const MINE = 'program = "mine"\nargs = ["-p", "{prompt}"]\nendpoint = "anthropic"\n';

test('the agents that come along, and which of them nobody drove', () => {
  const agents = agentsFrom('');
  expect(Object.keys(agents).join(' ')).toBe(
    'claude codex gemini opencode qwen copilot pi goose aider cursor cline amp',
  );
  const untried = Object.entries(agents).filter(([, { origin }]) => origin === 'untried');
  expect(untried.map(([name]) => name).join(' ')).toBe('goose aider cursor cline amp');
});

test('a person has agents of their own, and replaces single keys of others', () => {
  const agents = agentsFrom(`[agents.mine]\n${MINE}[agents.codex]\nprogram = "/opt/codex"\n`);
  expect(agents['mine']).toMatchObject({ title: 'mine', state: '.mine', env: {}, logins: [], origin: 'own' });
  expect(agents['codex']).toMatchObject({ title: 'Codex', program: '/opt/codex', origin: 'own' });
  expect(agents['codex']?.env).toHaveProperty('CODEX_API_KEY', '{placeholder}');
});

test.each([
  ['agents = 1', 'CONFIG_TYPE'],
  ['agents.mine = "x"', 'CONFIG_TYPE'],
  [`[agents.Mine]\n${MINE}`, 'CONFIG_NAME'],
  ['[agents.mine]\nprogram = "mine"', 'CONFIG_MISSING'],
  [`[agents.mine]\n${MINE}promt = "x"`, 'CONFIG_UNKNOWN_KEY'],
  [`[agents.mine]\n${MINE}state = "../x"`, 'CONFIG_VALUE'],
  [`[agents.mine]\n${MINE}state = "/etc"`, 'CONFIG_VALUE'],
  [`[agents.mine]\n${MINE}files = { "a/../../b" = "x" }`, 'CONFIG_VALUE'],
  [`[agents.mine]\n${MINE}tokens = { input = "a", output = "b", each = { "a b" = "c" } }`, 'CONFIG_VALUE'],
  [`[agents.mine]\n${MINE}env = { PATH = "x" }`, 'ENV_RESERVED'],
  ['[agents.mine]\nprogram = "-rf"\nargs = ["{prompt}"]\nendpoint = "a"', 'CONFIG_VALUE'],
  ['[agents.mine]\nprogram = "a"\nargs = ["x"]\nendpoint = "a"', 'CONFIG_VALUE'],
])('refuses %j', (text, code) => {
  expect(() => agentsFrom(text)).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['budget = 5', 'CONFIG_TYPE'],
  ['budget = { money = 5 }', 'CONFIG_UNKNOWN_KEY'],
  ['budget = { tokens = 0 }', 'CONFIG_VALUE'],
  [
    'url = "https://a.example"\nheader = "a: {secret}"\nmethods = ["GET"]\npaths = ["/"]\nbudget = { tokens = 5 }',
    'CONFIG_VALUE',
  ],
])('refuses a budget: %j', (lines, code) => {
  const kind = lines.startsWith('url') ? '' : 'kind = "openai"\n';
  const text = `[secrets]\nK = { environment = "K" }\n[endpoints.a]\n${kind}secret = "K"\n${lines}\n`;
  expect(() => parseConfig(text, 'c.toml')).toThrow(expect.objectContaining({ code }));
});
