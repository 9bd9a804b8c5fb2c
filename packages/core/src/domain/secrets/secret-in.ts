import type { SecretBytes } from './secret-bytes.ts';

/** The name of the first of the secrets that the bytes hold. */
export function secretIn(bytes: Uint8Array, secrets: readonly SecretBytes[]): string | undefined {
  return secrets.find((one) => holds(bytes, one.bytes))?.name;
}

function holds(bytes: Uint8Array, wanted: Uint8Array): boolean {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first); at !== -1; at = bytes.indexOf(first, at + 1)) {
    let length = 1;
    while (length < wanted.length && bytes[at + length] === wanted[length]) length += 1;
    if (length === wanted.length) return true;
  }
  return false;
}
