import { expect, test } from '@jest/globals';
import { agentName } from './agent-name.ts';

test.each([
  [{ name: 'claude-code', version: '2.1.328' }, 'claude-code'],
  [{ name: 'codex-mcp-client' }, 'codex'],
  [{ name: 'Visual Studio Code' }, 'visual-studio-code'],
  [{ name: '\u001b[2J9 \u202e(look)\n' }, 'j9-look'],
  [{ name: 'x'.repeat(10_000) }, 'x'.repeat(32)],
  [{ name: '---' }, 'mcp'],
  [{ name: { toString: 'no' } }, 'mcp'],
  [undefined, 'mcp'],
])('of %j it is %s', (client, name) => {
  expect(agentName(client)).toBe(name);
});
