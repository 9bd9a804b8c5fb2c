import type { ConfigWarning } from './config-warning.ts';
import { configJsonSchema } from './config-json-schema.ts';
import { nearestName } from './nearest-name.ts';
import { isTable } from './settings/setting.ts';

/** Names that people know from elsewhere, too far from ours for a slip of the finger. */
const SYNONYMS: Readonly<Record<string, string>> = {
  image: 'container.base-image',
  environment: 'container.env',
  setup: 'container.setup-command',
  pids: 'limits.processes',
  nofile: 'limits.open-files',
  ulimit: 'limits.open-files',
  ram: 'limits.memory',
  cpu: 'limits.cpus',
};

let known: { readonly schema: unknown; readonly everyKey: readonly string[] } | undefined;

/** Made at the first use and kept: each create reads the configuration, and the schema takes two milliseconds. */
function knownKeys(): NonNullable<typeof known> {
  if (known === undefined) {
    const schema = configJsonSchema();
    known = { schema, everyKey: namesIn(schema, []) };
  }
  return known;
}

/** A warning for each key that no one reads. Keys that the user names (services, variables) are not looked at. */
export function unknownKeys(
  document: Readonly<Record<string, unknown>>,
  placeOf: (path: readonly (string | number)[]) => string,
): readonly ConfigWarning[] {
  const { schema, everyKey } = knownKeys();
  const warnings: ConfigWarning[] = [];
  const look = (value: unknown, expected: unknown, path: readonly string[]): void => {
    if (!isTable(value) || !isTable(expected)) return;
    const { properties, additionalProperties, anyOf } = expected;
    for (const [key, child] of Object.entries(value)) {
      const below = [...path, key];
      if (isTable(properties) && Object.hasOwn(properties, key)) look(child, properties[key], below);
      else if (isTable(additionalProperties)) look(child, additionalProperties, below);
      else if (isTable(properties)) warnings.push(warning(below, Object.keys(properties)));
      else if (Array.isArray(anyOf)) {
        const table: unknown = anyOf.find((option) => isTable(option) && option['type'] === 'object');
        look(value, table, path);
        return;
      }
    }
  };
  const warning = (path: readonly string[], siblings: readonly string[]): ConfigWarning => {
    const last = path.at(-1) ?? '';
    const sibling = nearestName(last, siblings);
    const parent = path.slice(0, -1).join('.');
    const elsewhere =
      everyKey.find((key) => key.endsWith(`.${last}`)) ?? (Object.hasOwn(SYNONYMS, last) ? SYNONYMS[last] : undefined);
    const nearest = sibling === undefined ? elsewhere : [...path.slice(0, -1), sibling].join('.');
    const key = path.map((part) => (/^[\w-]{1,64}$/.test(part) ? part : JSON.stringify(part).slice(0, 66))).join('.');
    const meant =
      nearest === undefined
        ? `known ${parent === '' ? 'at the top' : `in ${parent}`}: ${siblings.join(', ')}`
        : `did you mean ${nearest}?`;
    return {
      code: 'CONFIG_UNKNOWN_KEY',
      key,
      message: `${placeOf(path)} ${key} is not known and has no effect (${meant}).`,
      ...(nearest !== undefined && { nearest }),
    };
  };
  look(document, schema, []);
  return warnings;
}

function namesIn(schema: unknown, path: readonly string[]): readonly string[] {
  if (!isTable(schema) || !isTable(schema['properties'])) return path.length === 0 ? [] : [path.join('.')];
  return Object.entries(schema['properties']).flatMap(([key, child]) => namesIn(child, [...path, key]));
}
