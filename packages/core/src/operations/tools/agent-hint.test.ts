import { expect, test } from '@jest/globals';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, type Hint, step } from '../../domain/errors/next-step.ts';
import { agentHint } from './agent-hint.ts';

const sandbox = 'a';

test.each<[told: string, hint: Hint]>([
  ['Make one: lb_sandbox-create.', advice`Make one: ${step('sandbox-create')}.`],
  ['It was deleted; look with lb_sandbox-list.', advice`It was deleted; look with ${step('sandbox-list')}.`],
  [
    'Choose another name, or work in it. Ask the person to run: litterbox delete a.',
    advice`Choose another name, or work in it. To delete it: ${step('sandbox-delete', { sandbox })}.`,
  ],
  ['Look with lb_bash: ls -la.', 'Look with ls -la in the sandbox.'],
  ['Use lb_bash for what is hidden: cat, grep or ls -A.', 'Use bash for what is hidden: cat, grep or ls -A.'],
  ['Ask the person to run: litterbox resume a.', advice`Run ${step('sandbox-resume', { sandbox })}.`],
  [
    'Try again. Ask the person to run: litterbox pause a --stop, then litterbox resume a.',
    advice`Try again; if it happens again: ${step('sandbox-stop', { sandbox })}, then ${step('sandbox-resume', { sandbox })}.`,
  ],
  [
    'Ask the person to run: litterbox diff a, then litterbox merge a src --yes-risky.',
    advice`Read them: ${step('sandbox-diff', { sandbox })}. Then: ${step('sandbox-merge', { sandbox, paths: ['src'], yesRisky: true })}.`,
  ],
  [
    "Ask the person to run: litterbox clone a 'https://example.org/x;y.git' b.",
    [step('sandbox-clone', { sandbox, url: 'https://example.org/x;y.git', destination: ['b'] })],
  ],
  ['Give a path such as src/login.ts.', 'Give a path such as src/login.ts.'],
])('%s', (told, hint) => {
  const { details } = new LitterboxError('INTERNAL', 'No.', { operation: 'test.hint', hint });
  expect(agentHint(details, (tool) => `lb_${tool}`)).toBe(told);
});
