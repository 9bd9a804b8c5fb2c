import { LitterboxError } from 'litterbox';
import * as z from 'zod';

/** Reads a message of the protocol. @throws LitterboxError `INVALID_ARGUMENT` that names the first key that is wrong */
export function parseJson<Schema extends z.ZodType>(schema: Schema, bytes: Uint8Array): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new LitterboxError('INVALID_ARGUMENT', 'The body of the request is no JSON.', { operation: 'e2b.read' });
  }
  return parseValue(schema, value);
}

/** The same for what is no text any more. */
export function parseValue<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LitterboxError('INVALID_ARGUMENT', `${issue?.path.join('.') || 'the request'}: ${issue?.message ?? ''}.`, {
    operation: 'e2b.read',
  });
}
