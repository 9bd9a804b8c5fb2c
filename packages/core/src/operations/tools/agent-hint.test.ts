import { expect, test } from '@jest/globals';
import { agentHint } from './agent-hint.ts';

test.each<[hint: string, told: string]>([
  ['Make one: litterbox create NAME.', 'Make one: lb_sandbox-create.'],
  ['Stop, or make a new one: litterbox create NAME.', 'Stop, or make a new one: lb_sandbox-create.'],
  ['It was deleted; look with `litterbox list`.', 'It was deleted; look with lb_sandbox-list.'],
  ['Choose another name, work in it, or delete it: litterbox delete agent1.', 'Choose another name, or work in it.'],
  ['Look with ls -la in the sandbox.', 'Look with lb_bash: ls -la.'],
  ['Use bash for what is hidden: cat, grep or ls -A.', 'Use lb_bash for what is hidden: cat, grep or ls -A.'],
  ['Run litterbox resume on it.', 'Ask the person to run: litterbox resume on it.'],
  [
    'Try again; if it happens again: litterbox pause a --stop, then litterbox resume a.',
    'Try again. Ask the person to run: litterbox pause a --stop, then litterbox resume a.',
  ],
  [
    'Read them: litterbox diff a. Then: litterbox merge a --yes-risky.',
    'Ask the person to run: litterbox diff a, then litterbox merge a --yes-risky.',
  ],
  [
    'litterbox clone "a" "https://example.org/x.git"',
    'Ask the person to run: litterbox clone "a" "https://example.org/x.git".',
  ],
  ['Give a path such as src/login.ts.', 'Give a path such as src/login.ts.'],
])('%s', (hint, told) => {
  expect(agentHint(hint, (tool) => `lb_${tool}`)).toBe(told);
});
