import type * as z from 'zod';
import { nearestName } from '../../config/nearest-name.ts';
import { LitterboxError, type LitterboxErrorCode } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';
import type { Operation } from './operation.ts';

/**
 * The one check of a caller's input: types, ranges, unknown and missing keys. What depends on the world (does the sandbox exist?)
 * is the use case's.
 *
 * @throws LitterboxError `ARG_MISSING`, `ARG_UNKNOWN`, `ARG_TYPE`, `ARG_RANGE`.
 */
export function parseInput<Input extends z.ZodObject>(
  { name, input: schema }: Pick<Operation<Input>, 'name' | 'input'>,
  input: unknown,
): z.output<Input> {
  const parsed = schema.safeParse(withoutUndefined(input));
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  // A misspelt key explains the missing one.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (!issue) throw parsed.error;
  const at = issue.path.map(String).join('.');
  const value = issue.path.reduce<unknown>(
    (inside, key) => (inside as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  );
  const refuse = (code: LitterboxErrorCode, message: string, hint: string) =>
    new LitterboxError(code, message, { operation: name.replace('-', '.'), hint });
  const known = Object.keys(schema.shape);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const nearest = nearestName(key, known);
    return fail(
      refuse(
        'ARG_UNKNOWN',
        `${name} has no argument ${shown(key)}${nearest === undefined ? '' : ` (did you mean ${nearest}?)`}.`,
        `It takes: ${known.join(', ')}.`,
      ),
    );
  }
  if (at === '') throw refuse('ARG_TYPE', `${name} got ${kindOf(input)}.`, 'Give an object.');
  const description = descriptionOf(schema, issue.path[0]);
  const hint = description === undefined ? `It takes: ${known.join(', ')}.` : `${at}: ${description}.`;
  if (value === undefined) throw refuse('ARG_MISSING', `${name} needs the argument ${at}.`, hint);
  if (issue.code === 'invalid_type' || issue.code === 'invalid_union') {
    const wanted = issue.code === 'invalid_type' ? issue.expected : oneOfTypes(issue);
    // A number of the right type that is no whole number, or NaN, is out of range rather than of another type.
    if (typeof value === 'number' && (wanted === 'int' || wanted === 'number'))
      throw refuse('ARG_RANGE', `${at}: got ${shownNumber(value)}, want a whole number.`, hint);
    throw refuse('ARG_TYPE', `${at}: got ${kindOf(value)}, want ${wanted}.`, hint);
  }
  throw refuse(
    'ARG_RANGE',
    `${at}: got ${typeof value === 'number' ? shownNumber(value) : shown(value)}, want ${wantedBy(issue)}.`,
    hint,
  );
}

/** `throw` as an expression's end: keeps the narrowing of the branches above. */
function fail(error: LitterboxError): never {
  throw error;
}

/** An option that is there and undefined is an option that was not given; so is a variable, as where Node starts a program. */
function withoutUndefined(input: unknown, depth = 0): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  if (depth > 0 && Object.getPrototypeOf(input) !== Object.prototype) return input;
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(depth > 0 ? given : given.map(([key, value]) => [key, withoutUndefined(value, 1)]));
}

/** Lists the types of what may have several, each once. */
function oneOfTypes({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const types = errors.map(([first]) => {
    if (first === undefined) return 'another type';
    if (first.path.length > 0) return `an array with ${wantedType(first)} at ${first.path.map(String).join('.')}`;
    return wantedType(first);
  });
  return [...new Set(types)].join(' or ');
}

const wantedType = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_type' ? issue.expected.replace('tuple', 'array') : wantedBy(issue);

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value);

const shownNumber = (value: number): string => (Number.isFinite(value) ? shown(value) : String(value));

function wantedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_small') return `at least ${String(issue.minimum)}`;
  if (issue.code === 'too_big') return `at most ${String(issue.maximum)}`;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  return issue.message;
}

function descriptionOf(schema: z.ZodObject, key: PropertyKey | undefined): string | undefined {
  if (typeof key !== 'string') return undefined;
  const field = schema.shape[key] as z.ZodType | undefined;
  return field?.description;
}
