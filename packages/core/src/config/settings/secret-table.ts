import { isTable, Refused, refusedValue, setting } from './setting.ts';

/** Where a secret comes from: the entry of the system keychain. */
export interface SecretConfig {
  readonly keychain: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const HINT = 'Write secrets = ["API_TOKEN"] and keep the value in the keychain.';
const schema = {
  description: 'Names of secrets in the system keychain. Never their values.',
  anyOf: [
    { type: 'array', items: { type: 'string' } },
    {
      type: 'object',
      additionalProperties: { type: 'object', properties: { keychain: { type: 'string' } } },
    },
  ],
};

export function secretTable() {
  return setting(schema, (value): Readonly<Record<string, SecretConfig>> | Refused => {
    if (Array.isArray(value)) {
      const bad = value.findIndex((name) => typeof name !== 'string' || !NAME.test(name));
      if (bad !== -1) return badName(value[bad], [bad]);
      return Object.fromEntries(value.map((name) => [String(name), { keychain: String(name) }]));
    }
    if (!isTable(value)) return refusedValue('CONFIG_TYPE', value, 'a list of names', HINT);
    const secrets: [string, SecretConfig][] = [];
    for (const [name, entry] of Object.entries(value)) {
      if (!NAME.test(name)) return badName(name, [name]);
      // Never repeat what stands here: it may be the secret.
      if (typeof entry === 'string' || (isTable(entry) && Object.hasOwn(entry, 'value'))) {
        return new Refused('SECRET_INLINE_FORBIDDEN', 'a secret may not stand in the file', HINT, [name]);
      }
      if (!isTable(entry)) return new Refused('CONFIG_TYPE', 'want a table', HINT, [name]);
      const keychain = entry['keychain'] ?? name;
      if (typeof keychain !== 'string' || !/^[\w./@-]{1,128}$/.test(keychain)) {
        return new Refused('CONFIG_VALUE', 'want the name of a keychain entry', HINT, [name, 'keychain']);
      }
      secrets.push([name, { keychain }]);
    }
    return Object.fromEntries(secrets);
  });
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
