import * as z from 'zod';
import type { Operation } from './operation.ts';

/** A JSON Schema, as a model or a form gets it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Marks what JSON cannot have, until it is taken out. */
const BYTES = 'x-bytes';

/**
 * The input of an operation as JSON Schema. A field that takes text or bytes is text in it, and one that takes bytes alone is left out:
 * JSON has none.
 *
 * @see https://json-schema.org/draft/2020-12
 */
export function jsonSchemaOf({ input }: Pick<Operation, 'input'>): JsonSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema._zod.def.type === 'custom') jsonSchema[BYTES] = true;
    },
  });
  return withoutBytes(schema) as JsonSchema;
}

const isBytes = (schema: unknown) => typeof schema === 'object' && schema !== null && BYTES in schema;

function withoutBytes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.filter((one) => !isBytes(one)).map(withoutBytes);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema)
    .filter(([, member]) => !isBytes(member))
    .map(([name, member]) => [name, withoutBytes(member)] as const);
  const { anyOf, ...rest } = Object.fromEntries(members);
  if (!Array.isArray(anyOf)) return rest;
  return anyOf.length === 1 ? { ...rest, ...anyOf[0] } : { ...rest, anyOf };
}
