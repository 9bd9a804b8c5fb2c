import * as z from 'zod';

/** What the SDK takes for a schema: JSON Schema for the client, and a check that lets everything through. */
export interface RawSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'litterbox';
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: { input(): Record<string, unknown>; output(): Record<string, unknown> };
  };
}

/**
 * A schema's form without its check: input is checked by core, whose errors have codes and say what to do next.
 *
 * @see https://standardschema.dev
 */
export function rawSchema(schema: z.ZodObject): RawSchema {
  const json = (io: 'input' | 'output') => {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
      io,
      override: ({ jsonSchema }) => withoutLimits(jsonSchema),
    });
    return rest as Record<string, unknown>;
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'litterbox',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => json('input'), output: () => outline(json('output')) },
    },
  };
}

/**
 * The names of facts with their types alone: every client keeps the list of tools in memory, and many hand all of it to the model with
 * every turn. What is in lists stands in the facts themselves.
 */
function outline({ properties = {} }: { readonly properties?: unknown }): Record<string, unknown> {
  const types = Object.entries(properties as Readonly<Record<string, { readonly type?: unknown }>>);
  return { type: 'object', properties: Object.fromEntries(types.map(([name, { type }]) => [name, { type }])) };
}

/** That a whole number is one that a program can count to is no news to a model. */
function withoutLimits(schema: { minimum?: number; maximum?: number }): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}
