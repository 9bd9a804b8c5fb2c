import { parse, TomlError } from 'smol-toml';
import type * as z from 'zod';
import type { Hint } from '../domain/errors/next-step.ts';
import { LitterboxError, type LitterboxErrorCode } from '../domain/errors/errors.ts';
import { shown } from '../domain/text/shown.ts';
import { type Config, ConfigSchema } from './config-schema.ts';
import type { ConfigWarning } from './config-warning.ts';
import { decodeConfig } from './decode-config.ts';
import { KeyPositions } from './key-positions.ts';
import { parseNetworkRule } from './settings/parse-network-rule.ts';
import { isTable, Refused } from './settings/setting.ts';
import { unknownKeys } from './unknown-keys.ts';

/** Deepest nesting of tables and lists. Ours need six. */
const MAX_DEPTH = 32;

/**
 * Reads the text of `.litterbox.toml`. Pure: neither the file nor the machine is looked at.
 *
 * @param place how messages name the file, such as `.litterbox.toml`
 * @throws LitterboxError `CONFIG_*`, and the codes of single keys, such as `ENV_RESERVED`, with line and column.
 */
export function parseConfig(
  text: Uint8Array | string,
  place: string,
): { readonly config: Config; readonly warnings: readonly ConfigWarning[] } {
  const toml = decodeConfig(text, place);
  const document = parseToml(toml, place);
  let positions: KeyPositions | undefined;
  const placeOf = (path: readonly (string | number)[]) => {
    positions ??= new KeyPositions(toml); // on first need: most files have nothing to say about
    const at = positions.of(path);
    return at ? `${place}:${at.line}:${at.column}` : place;
  };
  const result = ConfigSchema.safeParse(document);
  if (!result.success) throw refusal(result.error.issues, placeOf);
  const warnings = [...unknownKeys(document, placeOf), ...normalisedRules(document, placeOf)];
  return { config: result.data, warnings };
}

function parseToml(toml: string, place: string): Readonly<Record<string, unknown>> {
  try {
    const document = parse(toml, { maxDepth: MAX_DEPTH });
    if (isDeeper(document, MAX_DEPTH)) throw tooDeep(place);
    return document;
  } catch (cause) {
    if (cause instanceof LitterboxError) throw cause;
    if (cause instanceof RangeError || (cause instanceof TomlError && isOnlyTooDeep(toml, cause)))
      throw tooDeep(place, cause);
    if (!(cause instanceof TomlError)) throw cause;
    const [first = ''] = cause.message.split('\n');
    const reason = first
      .replace(/^Invalid TOML document: /, '')
      .replace(/^trying to redefine an already defined (?:table or )?value/, 'duplicate key or table');
    throw new LitterboxError(
      'CONFIG_SYNTAX',
      `${place}:${cause.line}:${cause.column} ${reason}`,
      {
        operation: 'config.parse',
        hint: 'Correct that line; the syntax is TOML 1.0 (https://toml.io).',
        facts: { line: cause.line, column: cause.column },
      },
      { cause },
    );
  }
}

/** The parser has no code for it; with a higher limit it stops elsewhere, or not at all. */
function isOnlyTooDeep(toml: string, error: TomlError): boolean {
  try {
    parse(toml, { maxDepth: MAX_DEPTH * 4 });
    return true;
  } catch (second) {
    return !(second instanceof TomlError) || second.line !== error.line || second.column !== error.column;
  }
}

/** Dotted names nest without brackets. Not recursive: the document may be deeper than the stack. */
function isDeeper(document: unknown, limit: number): boolean {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((value) => (Array.isArray(value) || isTable(value) ? Object.values(value) : []));
  }
  return false;
}

function tooDeep(place: string, cause?: unknown): LitterboxError {
  return new LitterboxError(
    'CONFIG_TOO_DEEP',
    `${place} nests tables or lists deeper than ${MAX_DEPTH}.`,
    { operation: 'config.parse', hint: 'No key of Litterbox needs more than six levels.' },
    { cause },
  );
}

function refusal(
  issues: readonly z.core.$ZodIssue[],
  placeOf: (path: readonly (string | number)[]) => string,
): LitterboxError {
  const [issue] = issues;
  const path = (issue?.path ?? []).map((part) => (typeof part === 'number' ? part : String(part)));
  const key = path.join('.');
  const make = (code: LitterboxErrorCode, reason: string, hint: Hint) =>
    new LitterboxError(code, `${placeOf(path)} ${keyText(path)}: ${reason}`, {
      operation: 'config.parse',
      hint,
      facts: { key },
    });
  const refused = issue?.code === 'custom' ? (issue.params?.['refused'] as unknown) : undefined;
  if (refused instanceof Refused) return make(refused.code, refused.reason, refused.hint);
  // What zod itself finds: a section that is not a table, a required key that is not there.
  const code = key === 'network' ? 'NET_RULE_INVALID' : 'CONFIG_TYPE';
  return make(code, 'want a table', `Write [${key}] on a line of its own and the keys below it.`);
}

/** A dotted key for a message: a name of the user's choice may hold anything. */
function keyText(path: readonly (string | number)[]): string {
  return path.map((part) => (/^[\w-]{1,64}$/.test(String(part)) ? part : shown(part))).join('.');
}

function normalisedRules(
  document: Readonly<Record<string, unknown>>,
  placeOf: (path: readonly (string | number)[]) => string,
): readonly ConfigWarning[] {
  const network = document['network'];
  if (!isTable(network)) return [];
  return ['allow', 'deny'].flatMap((list) => {
    const rules = network[list];
    if (!Array.isArray(rules)) return [];
    return rules.flatMap((rule: unknown, index): ConfigWarning[] => {
      const normal = parseNetworkRule(String(rule));
      if (normal === undefined || normal === rule) return [];
      const message = `${placeOf(['network', list, index])} ${shown(rule)} is read as ${normal}.`;
      return [{ code: 'CONFIG_NORMALISED', key: `network.${list}`, message }];
    });
  });
}
