import { type FieldSchema, LitterboxError, type Operation, shown } from '@litterbox/core';
import { unwrapped, wordingOf } from './field-form.ts';

/** The words of a command line, by key of the operation's input. */
export interface FoundWords {
  readonly key: string;
  /** For messages: `--memory`. */
  readonly name: string;
  readonly value: unknown;
}

/** Reads values from words: sizes, durations, variables, commands. What is wrong with them is told with the option's name. */
export function readInput({ input }: Pick<Operation, 'input'>, words: readonly FoundWords[]): Record<string, unknown> {
  const shape: Readonly<Record<string, FieldSchema>> = input.shape;
  return Object.fromEntries(
    words.map(({ key, name, value }) => {
      const field = shape[key];
      return [key, field && valueOf(unwrapped(field).schema, name, value)];
    }),
  );
}

function valueOf(schema: FieldSchema, name: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  const { parse, isList, wanted = 'such a value' } = wordingOf(schema);
  if (Array.isArray(value) && isList) return value.flatMap((one) => valueOf(schema, name, one));
  if (Array.isArray(value) && schema.def.type !== 'record') return manyOf(schema, value as readonly string[]);
  if (schema.def.type === 'record') return pairsOf(name, value as readonly string[]);
  if (!parse || typeof value !== 'string') return value;
  const parsed = parse(value);
  if (parsed !== undefined) return parsed;
  throw new LitterboxError('ARG_RANGE', `${name} ${shown(value)} is not ${wanted}.`, {
    operation: 'cli.parse',
    hint: `Give ${wanted}.`,
  });
}

function pairsOf(name: string, pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const cut = pair.indexOf('=');
      if (cut < 1)
        throw new LitterboxError('ENV_NAME', `${name} ${shown(pair)} is not NAME=value.`, {
          operation: 'cli.parse',
          hint: `Write ${name} NAME=value.`,
        });
      return [pair.slice(0, cut), pair.slice(cut + 1)];
    }),
  );
}

/** A list, or a command: one word is for the shell, several are a program and its arguments. */
function manyOf(schema: FieldSchema, words: readonly string[]): unknown {
  const rest = words[0] === '--' ? words.slice(1) : words;
  if (schema.def.type !== 'union') return rest;
  return rest.length === 1 ? rest[0] : rest;
}
