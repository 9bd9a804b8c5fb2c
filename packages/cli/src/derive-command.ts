import {
  type CommandForm,
  type FieldSchema,
  LitterboxError,
  type Operation,
  shown,
  type Wording,
  wordings,
} from '@litterbox/core';
import { Command, Option } from 'commander';

/** Reads the operation's raw input from what commander found. */
export type ReadInput = (
  places: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
) => Record<string, unknown>;

/** A command with arguments, options, help and examples of an operation that has a command form. */
export function deriveCommand(
  operation: Operation & { readonly command: CommandForm },
  repeated?: string,
): {
  readonly command: Command;
  readonly read: ReadInput;
} {
  const { verb, positional, examples } = operation.command;
  const shape: Readonly<Record<string, FieldSchema>> = operation.input.shape;
  const command = new Command(verb)
    .description(operation.summary)
    .exitOverride()
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ litterbox ${line}`).join('\n')}`);
  for (const key of positional) {
    const { schema, isOptional } = unwrapped(shape[key]);
    const name = `${wordingOf(schema).placeholder ?? key}${isMany(schema) || key === repeated ? '...' : ''}`;
    command.argument(isOptional ? `[${name}]` : `<${name}>`, shape[key]?.description);
  }
  const options = Object.keys(shape)
    .filter((key) => !positional.includes(key) && shape[key]?.description !== undefined) // a field without words is for programs alone
    .map((key) => ({ key, schema: unwrapped(shape[key]).schema, option: optionOf(key, shape[key]) }));
  for (const { option } of options) command.addOption(option);
  return {
    command,
    read(places, found) {
      const input: Record<string, unknown> = {};
      positional.forEach((key, place) => {
        const { schema } = unwrapped(shape[key]);
        input[key] = isMany(schema) ? manyOf(schema, places[place]) : places[place];
      });
      for (const { key, schema, option } of options)
        input[key] = valueOf(schema, option, found[option.attributeName()]);
      return input;
    },
  };
}

function optionOf(key: string, field: FieldSchema | undefined): Option {
  const { schema } = unwrapped(field);
  const { flag = kebab(key), short, placeholder } = wordingOf(schema);
  const name = `${short === undefined ? '' : `-${short}, `}--${flag}`;
  const description = lowerFirst(field?.description ?? '');
  if (schema.def.type === 'boolean') return new Option(name, description);
  const option = new Option(`${name} <${placeholder ?? 'value'}>`, description);
  if (schema.def.type === 'record')
    option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
  if ('options' in schema && schema.def.type === 'enum') option.choices(schema.options as string[]);
  return option;
}

function valueOf(schema: FieldSchema, option: Option, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (schema.def.type === 'record') return variables(value as readonly string[]);
  const { parse, wanted = 'such a value' } = wordingOf(schema);
  if (!parse || typeof value !== 'string') return value;
  const parsed = parse(value);
  if (parsed !== undefined) return parsed;
  throw new LitterboxError('ARG_RANGE', `${option.long ?? option.name()} ${shown(value)} is not ${wanted}.`, {
    operation: 'cli.parse',
    hint: `Give ${wanted}.`,
  });
}

function variables(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const cut = pair.indexOf('=');
      if (cut < 1)
        throw new LitterboxError('ENV_NAME', `--env ${shown(pair)} is not NAME=value.`, {
          operation: 'cli.parse',
          hint: 'Write --env NAME=value.',
        });
      return [pair.slice(0, cut), pair.slice(cut + 1)];
    }),
  );
}

/** A list, or a command: one word is for the shell, several are a program and its arguments. */
function manyOf(schema: FieldSchema, words: unknown): unknown {
  const list = Array.isArray(words) ? (words as readonly string[]) : [];
  const rest = list[0] === '--' ? list.slice(1) : list;
  if (schema.def.type !== 'union') return rest;
  return rest.length === 1 ? rest[0] : rest;
}

const isMany = (schema: FieldSchema): boolean => schema.def.type === 'array' || schema.def.type === 'union';

/** The schema without what makes it optional or read-only. */
function unwrapped(schema: FieldSchema | undefined): { readonly schema: FieldSchema; readonly isOptional: boolean } {
  if (!schema) throw new Error('A positional key is not in the input.');
  let isOptional = false;
  let inner = schema;
  while (inner.def.type === 'optional' || inner.def.type === 'readonly') {
    isOptional ||= inner.def.type === 'optional';
    inner = (inner as unknown as { unwrap(): FieldSchema }).unwrap();
  }
  return { schema: inner, isOptional };
}

/** A wording belongs to the innermost schema, or to the one that was given it last. */
function wordingOf(schema: FieldSchema): Wording {
  return wordings.get(schema) ?? {};
}

/** `setupTimeoutMs` is `setup-timeout`: on a command line the value carries its unit. */
const kebab = (key: string): string =>
  key.replace(/(Bytes|Ms)$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
