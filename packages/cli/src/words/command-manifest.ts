import { type FieldSchema, type Operation, OPERATIONS } from '@litterbox/core';
import { isMany, kebab, unwrapped, wordingOf } from './field-form.ts';

/** All that help and the parser of words need to know of an operation: plain data, made when the command line is built. */
export interface CommandManifest {
  readonly operation: string;
  readonly group?: string;
  readonly verb: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly places: readonly {
    readonly key: string;
    readonly name: string;
    readonly isOptional: boolean;
    readonly isMany: boolean;
    readonly description?: string;
  }[];
  readonly options: readonly {
    readonly key: string;
    readonly flags: string;
    readonly description: string;
    readonly isRepeated: boolean;
    readonly choices?: readonly string[];
  }[];
}

export const MANIFEST: readonly CommandManifest[] = OPERATIONS.flatMap((operation: Operation) => {
  const { name, summary, command, input } = operation;
  if (!command) return [];
  const shape: Readonly<Record<string, FieldSchema>> = input.shape;
  const fields = Object.entries(shape).map(([key, field]) => ({ key, field, ...unwrapped(field) }));
  return {
    operation: name,
    ...(command.group !== undefined && { group: command.group }),
    verb: command.verb,
    summary,
    examples: command.examples,
    places: command.positional.map((key) => {
      const { field, schema, isOptional } = fields.find((one) => one.key === key) ?? missing(name, key);
      return {
        key,
        name: wordingOf(schema).placeholder ?? key,
        isOptional,
        isMany: isMany(schema),
        ...(field.description !== undefined && { description: field.description }),
      };
    }),
    options: fields
      .filter(({ key, field }) => !command.positional.includes(key) && field.description !== undefined) // a field without words is for programs alone
      .map(({ key, field, schema }) => {
        const { flag = kebab(key), short, placeholder = 'value', isList = false } = wordingOf(schema);
        const { type } = schema.def;
        const long = `${short === undefined ? '' : `-${short}, `}--${flag}`;
        return {
          key,
          flags: type === 'boolean' ? long : `${long} <${placeholder}>`,
          description: lowerFirst(field.description ?? ''),
          isRepeated: type === 'record' || isList,
          ...('options' in schema && type === 'enum' && { choices: schema.options as readonly string[] }),
        };
      }),
  };
});

function missing(operation: string, key: string): never {
  throw new Error(`The operation ${operation} has no key ${key}.`);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
