import { RedactedStream } from '../domain/secrets/redacted-stream.ts';
import type { SecretBytes } from '../domain/secrets/secret-bytes.ts';
import { secretIn } from '../domain/secrets/secret-in.ts';
import { decodeRaw, encodeRaw } from '../domain/text/raw-text.ts';

/** Values of the secrets that commands of an opened sandbox hold. Only memory has them, for as long as the sandbox is open. */
export class HeldSecrets {
  /** For the environment of commands. */
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: readonly SecretBytes[];

  constructor(held: readonly { readonly name: string; readonly variable: string; readonly value: string }[]) {
    this.variables = Object.fromEntries(held.map(({ variable, value }) => [variable, value]));
    this.secrets = held.map(({ name, value }) => ({ name, bytes: encodeRaw(value) }));
  }

  /** Nothing where there is none: streams are not looked at then. */
  redaction(): RedactedStream | undefined {
    return this.secrets.length === 0 ? undefined : new RedactedStream(this.secrets);
  }

  /** The same text with `[secret NAME]` in place of each. */
  redacted(text: string): string {
    const stream = this.redaction();
    if (!stream) return text;
    return decodeRaw(stream.push(encodeRaw(text))) + decodeRaw(stream.end());
  }

  /** The name of the first that the bytes hold. */
  nameIn(bytes: Uint8Array): string | undefined {
    return secretIn(bytes, this.secrets);
  }
}

export const NO_SECRETS = new HeldSecrets([]);
