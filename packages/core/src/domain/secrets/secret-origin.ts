/** Where the value of a secret is kept, by exactly one of four. The value itself is nowhere in it. */
export type SecretOrigin =
  /** The entry of the desktop's keyring that has the attribute `litterbox` with this value. */
  | { readonly keychain: string }
  /** The entry of `pass`, the password store of this user. Its first line is the value. */
  | { readonly pass: string }
  /** The variable of the environment in which `litterbox` was started. */
  | { readonly environment: string }
  /** The file with this absolute path: of this user, and with no right for anybody else. */
  | { readonly file: string };

/** The kinds, as configurations write them. */
export const SECRET_ORIGINS = ['keychain', 'pass', 'environment', 'file'] as const;

/** The kind and its name, as people read it: `keychain work/a`. */
export function originText(origin: SecretOrigin): string {
  const [[kind, name] = ['', '']] = Object.entries(origin);
  return `${kind} ${name}`;
}
