import * as z from 'zod';
import type { LitterboxErrorCode } from '../../domain/errors/errors.ts';
import type { Hint } from '../../domain/errors/next-step.ts';
import { shown } from '../../domain/text/shown.ts';

/** Why a value of the configuration is not taken. */
export class Refused {
  readonly code: LitterboxErrorCode;
  /** What was got and what is wanted. */
  readonly reason: string;
  readonly hint: Hint;
  /** Below the key that was read, when the fault lies deeper. */
  readonly path: readonly (string | number)[];

  constructor(code: LitterboxErrorCode, reason: string, hint: Hint, path: readonly (string | number)[] = []) {
    this.code = code;
    this.reason = reason;
    this.hint = hint;
    this.path = path;
  }
}

/** The usual refusal: a value of the wrong type or out of range. */
export function refusedValue(
  code: LitterboxErrorCode,
  value: unknown,
  wanted: string,
  hint: Hint,
  path?: readonly (string | number)[],
): Refused {
  const got = typeof value === 'number' ? String(value) : shown(value); // JSON knows neither nan nor inf
  return new Refused(code, `got ${got}, want ${wanted}`, hint, path);
}

/**
 * One key of the configuration: what editors are told about it (JSON Schema) and how its value is read. Reading is ours
 * and not zod's, because each key has its own error code and its own words for what it wants.
 */
export function setting<Output>(
  jsonSchema: Readonly<Record<string, unknown>>,
  read: (value: unknown) => Output | Refused,
) {
  return z
    .unknown()
    .meta(jsonSchema)
    .transform((value, context): Output => {
      const result = read(value);
      if (!(result instanceof Refused)) return result;
      context.addIssue({ code: 'custom', message: result.reason, params: { refused: result }, path: [...result.path] });
      return z.NEVER;
    });
}

/** A key that takes one of a few words. */
export function choice<const Word extends string>(words: readonly Word[], description: string) {
  return setting({ enum: words, description }, (value): Word | Refused => {
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    const code = typeof value === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    return refusedValue(code, value, `one of ${words.join(', ')}`, `Write "${words[0]}", for example.`);
  });
}

export function truth(description: string) {
  return setting({ type: 'boolean', description }, (value): boolean | Refused =>
    typeof value === 'boolean'
      ? value
      : refusedValue('CONFIG_TYPE', value, 'true or false', 'Write it without quotes.'),
  );
}

/** A whole number within a range. */
export function count(minimum: number, maximum: number, description: string) {
  return setting({ type: 'integer', minimum, maximum, description }, (value): number | Refused => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
    const code = typeof value === 'number' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    return refusedValue(code, value, `a whole number, ${minimum}..${maximum}`, `Write ${minimum}, for example.`);
  });
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
