import { LitterboxError } from '@litterbox/core/provider';
import type { ShapeOf } from './json-shape.ts';
import type { StateDatabase } from './database/state-database.ts';

/** @throws LitterboxError `INVALID_ARGUMENT` for what JSON cannot say: cycles, big integers. */
export function toJson(operation: string, value: unknown): string {
  try {
    return JSON.stringify(value); // lone surrogates (raw file names) and NUL leave as escapes, so SQLite keeps them
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LitterboxError(
      'INVALID_ARGUMENT',
      `A value to be stored is not JSON: ${reason}.`,
      { operation, hint: 'Store plain objects, lists, texts, numbers and booleans only.' },
      { cause },
    );
  }
}

/** @throws LitterboxError `STATE_CORRUPT` when the text is not JSON of that shape. */
export function fromJson<Value>(
  database: StateDatabase,
  operation: string,
  place: string,
  stored: unknown,
  shape: ShapeOf<Value>,
): Value {
  let value: unknown;
  try {
    value = JSON.parse(String(stored));
  } catch {
    throw database.corrupt(operation, `${place} is not JSON`);
  }
  const finding = shape(value, '');
  if (finding !== undefined) throw database.corrupt(operation, `${place}: ${finding}`);
  return value as Value; // just checked
}
