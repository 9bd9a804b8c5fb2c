import { describe, expect, it } from '@jest/globals';
import { anything, assert, constantFrom, property } from 'fast-check';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import { createSandbox } from '../create-sandbox.ts';
import { mergeChanges } from '../review/integrate.ts';
import type { CommandForm, Operation } from './operation.ts';
import { OPERATIONS } from '../all-operations.ts';
import { parseInput } from './parse-input.ts';
import { runCommand } from '../work/run-command.ts';
import { writeFile } from '../work/write-file.ts';

const cases: readonly (readonly [operation: Operation, input: unknown, code: string, says: string])[] = [
  [runCommand, {}, 'ARG_MISSING', 'needs the argument sandbox'],
  [runCommand, { sandbox: undefined, command: 'x' }, 'ARG_MISSING', 'needs the argument sandbox'],
  [createSandbox, { name: 5 }, 'ARG_TYPE', 'name: got number, want string'],
  [createSandbox, { name: null }, 'ARG_TYPE', 'name: got null, want string'],
  [createSandbox, { name: ['a'] }, 'ARG_TYPE', 'name: got an array, want string'],
  [createSandbox, { name: {} }, 'ARG_TYPE', 'name: got object, want string'],
  [createSandbox, null, 'ARG_TYPE', 'got null'],
  [createSandbox, [], 'ARG_TYPE', 'got an array'],
  [createSandbox, { name: 'a', memoryBytes: 1024 }, 'ARG_RANGE', 'memoryBytes: got 1024, want at least 67108864'],
  [createSandbox, { name: 'a', memoryBytes: Number.NaN }, 'ARG_RANGE', 'memoryBytes: got NaN'],
  [createSandbox, { name: 'a', memoryBytes: Number.POSITIVE_INFINITY }, 'ARG_RANGE', 'memoryBytes: got Infinity'],
  [createSandbox, { name: 'a', cpus: 0 }, 'ARG_RANGE', 'cpus: got 0, want at least 0.01'],
  [createSandbox, { name: 'a', processes: 16.5 }, 'ARG_RANGE', 'processes: got 16.5, want a whole number'],
  [createSandbox, { name: 'a', workspaceGit: 'some' }, 'ARG_RANGE', 'want one of none, throwaway'],
  [createSandbox, { name: 'a', memory: 1 }, 'ARG_UNKNOWN', '"memory"'],
  [createSandbox, { name: 'a', providr: 'x' }, 'ARG_UNKNOWN', 'did you mean provider?'],
  [runCommand, { sanbox: 'a', command: 'x' }, 'ARG_UNKNOWN', 'did you mean sandbox?'],
  [runCommand, { command: 'x' }, 'ARG_MISSING', 'sandbox'],
  [runCommand, { sandbox: 'a', command: 7 }, 'ARG_TYPE', 'command: got number, want string or array.'],
  [runCommand, { sandbox: 'a', command: ['a', 7] }, 'ARG_TYPE', 'want string or an array with string at 1.'],
  [runCommand, { sandbox: 'a', command: 'x', env: { A: 7 } }, 'ARG_TYPE', 'env.A: got number, want string'],
  [writeFile, { sandbox: 'a', path: 'b', content: new ArrayBuffer(1) }, 'ARG_TYPE', 'want string or Uint8Array.'],
  [runCommand, { sandbox: 'a', command: 'x', timeoutMs: 0 }, 'ARG_RANGE', 'at least 1'],
  [runCommand, { sandbox: 'a', command: 'x', timeoutMs: -1 }, 'ARG_RANGE', 'at least 1'],
  [runCommand, { sandbox: 'a', command: 'x', timeoutMs: '5' }, 'ARG_TYPE', 'timeoutMs: got string'],
  [runCommand, { sandbox: 'a', command: 'x', timeoutMs: 1e12 }, 'ARG_RANGE', 'at most 86400000'],
  [mergeChanges, { sandbox: 'a', force: true }, 'ARG_UNKNOWN', '"force"'],
];

it.each(
  cases.map(([operation, input, code, says]) => [operation.name, JSON.stringify(input), code, says, operation, input]),
)('%s refuses %s with %s', (_name, _shown, code, says, operation, input) => {
  let error: unknown;
  try {
    parseInput(operation as Operation, input);
  } catch (caught) {
    error = caught;
  }
  expect(isLitterboxError(error) && error.code).toBe(code);
  expect((error as Error).message).toContain(says);
  expect(isLitterboxError(error) && (error.details.hint ?? '')).not.toBe('');
});

it('FC-471: a variable that is undefined is left out, as Node leaves it out', () => {
  const parsed = parseInput(runCommand, { sandbox: 'a', command: 'x', cwd: undefined, env: { A: 'a', B: undefined } });
  expect(parsed).toEqual({ sandbox: 'a', command: 'x', env: { A: 'a' } });
});

it('whatever comes in, what goes out is parsed or refused by name', () => {
  assert(
    property(
      constantFrom(...OPERATIONS),
      anything({ withNullPrototype: true, withBigInt: true }),
      (operation, input) => {
        try {
          parseInput(operation, input);
        } catch (error) {
          expect(isLitterboxError(error)).toBe(true);
          expect((error as Error).message.length).toBeLessThan(400);
        }
      },
    ),
  );
});

describe('the operations', () => {
  it('have names of their own, noun-verb, and one summary each', () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, summary } of OPERATIONS) {
      expect(name).toMatch(/^[a-z]+-[a-z]+$/);
      expect(summary).toMatch(/^[A-Z].*[^.]$/);
    }
    expect(new Set(OPERATIONS.map(({ summary }) => summary)).size).toBe(names.length);
  });

  it('take objects without keys that nobody declared', () => {
    for (const { input } of OPERATIONS) expect(input.safeParse({ 'no-such-key': 1 }).success).toBe(false);
  });

  it('of the command line have unlike verbs, places that exist, and examples that begin with the verb', () => {
    const forms = OPERATIONS.flatMap(({ command, input }) => (command ? [{ command, input }] : []));
    const wordsOf = ({ group = '', verb }: CommandForm) => `${group} ${verb}`.trim();
    expect(new Set(forms.map(({ command }) => wordsOf(command))).size).toBe(forms.length);
    for (const { command, input } of forms) {
      expect(Object.keys(input.shape)).toEqual(expect.arrayContaining([...command.positional]));
      for (const example of command.examples) expect(`${example} `.startsWith(`${wordsOf(command)} `)).toBe(true);
    }
  });
});
