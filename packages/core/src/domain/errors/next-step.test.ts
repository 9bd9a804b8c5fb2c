import { expect, test } from '@jest/globals';
import { LitterboxError } from './errors.ts';
import { advice, step } from './next-step.ts';

const next = advice`Rebuild it: ${step('sandbox-recover', { sandbox: 'a', force: true })}.`;

test('a hint with a step reads as a sentence for programs, and keeps the step as data', () => {
  const { details } = new LitterboxError('SANDBOX_BROKEN', 'No.', { operation: 'sandbox.open', hint: next });
  expect(details).toEqual({ operation: 'sandbox.open', hint: 'Rebuild it: recover("a", { force: true }).', next });
});

test('an unknown value is named', () => {
  const { details } = new LitterboxError('SANDBOX_BROKEN', 'No.', {
    operation: 'sandbox.open',
    hint: advice`Run ${step('sandbox-recover')}, ${2} times.`,
  });
  expect(details.hint).toBe('Run recover(NAME), 2 times.');
});

test('the details of one error, spread into those of another, keep the steps of their own hint alone', () => {
  const { details } = new LitterboxError('SANDBOX_BROKEN', 'No.', { operation: 'sandbox.open', hint: next });
  expect(new LitterboxError('INTERNAL', 'No.', details).details).toEqual(details);
  expect(new LitterboxError('INTERNAL', 'No.', { ...details, hint: 'Wait.' }).details).toEqual({
    operation: 'sandbox.open',
    hint: 'Wait.',
  });
});
