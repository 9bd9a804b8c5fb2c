import type { ConfiguredSecret } from '../../domain/secrets/exposed-secret.ts';
import { SECRET_ORIGINS, type SecretOrigin } from '../../domain/secrets/secret-origin.ts';
import { isTable, Refused, refusedValue, setting } from './setting.ts';
import { variableProblem } from './variable-problem.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const HINT = 'Write secrets = ["API_TOKEN"] and keep the value in the keychain.';
const ORIGIN_HINT = `Write one of: ${SECRET_ORIGINS.map((kind) => `{ ${kind} = "…" }`).join(', ')}.`;
/** By kind. None can be taken for an option of the program that it is given to. */
const FORMS = {
  keychain: { pattern: /^(?!-)[\w./@-]{1,128}$/, wanted: 'the name of a keychain entry' },
  pass: { pattern: /^(?!-)[\w./@-]{1,128}$/, wanted: 'the name of an entry of pass' },
  environment: { pattern: NAME, wanted: 'the name of a variable' },
  file: { pattern: /^\/[^\0-\x1f\x7f]{1,1023}$/, wanted: 'the absolute path of a file' },
} as const;
const schema = {
  description:
    'Names of secrets, where each is kept, and the variable in which commands hold it where they have to. Never their values.',
  anyOf: [
    { type: 'array', items: { type: 'string' } },
    {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: Object.fromEntries([...SECRET_ORIGINS, 'expose'].map((key) => [key, { type: 'string' }])),
        additionalProperties: false,
        maxProperties: 2,
      },
    },
  ],
};

export function secretTable() {
  return setting(schema, (value): Readonly<Record<string, ConfiguredSecret>> | Refused => {
    if (Array.isArray(value)) {
      const bad = value.findIndex((name) => typeof name !== 'string' || !NAME.test(name));
      if (bad !== -1) return badName(value[bad], [bad]);
      return Object.fromEntries(value.map((name) => [String(name), { keychain: String(name) }]));
    }
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a list of names', HINT);
    const secrets: [string, ConfiguredSecret][] = [];
    for (const [name, entry] of Object.entries(value)) {
      if (!NAME.test(name)) return badName(name, [name]);
      // Never repeat what stands here: it may be the secret.
      if (typeof entry === 'string' || (isTable(entry) && Object.hasOwn(entry, 'value'))) {
        return new Refused('SECRET_INLINE_FORBIDDEN', 'a secret may not stand in the file', HINT, [name]);
      }
      if (!isTable(entry)) return new Refused('CONFIG_TYPE', 'want a table', HINT, [name]);
      const { expose, ...place } = entry;
      const origin = originOf(name, place);
      if (origin instanceof Refused) return origin;
      const refused = Object.hasOwn(entry, 'expose') ? badVariable(name, expose) : undefined;
      if (refused) return refused;
      secrets.push([name, { ...origin, ...(typeof expose === 'string' && { expose }) }]);
    }
    return Object.fromEntries(secrets);
  });
}

/** Repeats nothing of an entry but the kind: what stands there may be the secret. */
function originOf(name: string, entry: Readonly<Record<string, unknown>>): SecretOrigin | Refused {
  const [kind, ...more] = Object.keys(entry);
  if (kind === undefined) return { keychain: name };
  const known = SECRET_ORIGINS.find((each) => each === kind);
  if (more.length > 0 || known === undefined) {
    return new Refused('CONFIG_VALUE', 'want one place where the secret is kept', ORIGIN_HINT, [name]);
  }
  const place = entry[known];
  const { pattern, wanted } = FORMS[known];
  if (typeof place !== 'string' || !pattern.test(place)) {
    return new Refused('CONFIG_VALUE', `want ${wanted}`, ORIGIN_HINT, [name, known]);
  }
  // One key is there, which `known` names.
  return { [known]: place } as unknown as SecretOrigin;
}

/** A secret in a variable that steers programs would be code. */
function badVariable(name: string, variable: unknown): Refused | undefined {
  const path = [name, 'expose'];
  if (typeof variable !== 'string')
    return new Refused('CONFIG_TYPE', 'want the name of a variable', 'Write expose = "NPM_TOKEN".', path);
  const problem = variableProblem(variable, '');
  return problem && new Refused(problem.code, problem.reason, 'Choose another variable.', path);
}

/** `secret` is a likely slip for `secrets`, and a value under it must not go unnoticed as an unknown key. */
export function noInlineSecret() {
  return setting(
    { not: {}, description: 'Write `secrets`.' },
    (): Refused =>
      new Refused('SECRET_INLINE_FORBIDDEN', 'a secret may not stand in the file, and the key is `secrets`', HINT),
  );
}

function badName(name: unknown, path: readonly (string | number)[]): Refused {
  return refusedValue('SECRET_NAME', name, 'a name of letters, digits and _', HINT, path);
}
