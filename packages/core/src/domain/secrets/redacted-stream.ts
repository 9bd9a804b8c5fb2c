import { joinBytes } from '../text/join-bytes.ts';
import type { SecretBytes } from './secret-bytes.ts';

interface Secret {
  readonly bytes: Uint8Array;
  readonly note: Uint8Array;
}

/**
 * A stream with `[secret NAME]` in place of each secret, however it is cut into pieces. Bytes that may be the beginning of a secret wait for
 * the next piece; all others pass at once.
 */
export class RedactedStream {
  /** The longest first: it wins where one is the beginning of another. */
  readonly #secrets: readonly Secret[];
  readonly #firstBytes: readonly number[];
  #held: Uint8Array = new Uint8Array();

  constructor(secrets: readonly SecretBytes[]) {
    this.#secrets = secrets
      .map(({ name, bytes }) => ({ bytes, note: new TextEncoder().encode(`[secret ${name}]`) }))
      .sort((left, right) => right.bytes.length - left.bytes.length);
    this.#firstBytes = [...new Set(secrets.flatMap(({ bytes }) => [...bytes.subarray(0, 1)]))];
  }

  /** @returns what may pass by now */
  push(bytes: Uint8Array): Uint8Array {
    return this.#pass(this.#held.length === 0 ? bytes : joinBytes([this.#held, bytes]), false);
  }

  /** @returns what was held back, once nothing follows */
  end(): Uint8Array {
    return this.#pass(this.#held, true);
  }

  #pass(bytes: Uint8Array, isEnd: boolean): Uint8Array {
    const parts: Uint8Array[] = [];
    let from = 0;
    const candidate = this.#candidates(bytes);
    let at = candidate(0);
    while (at < bytes.length) {
      if (!isEnd && this.#secrets.some((secret) => isBeginning(bytes, at, secret.bytes))) break;
      const found = this.#secrets.find((secret) => isAt(bytes, at, secret.bytes));
      if (found) {
        parts.push(bytes.subarray(from, at), found.note);
        from = at + found.bytes.length;
      }
      at = candidate(found ? from : at + 1);
    }
    // A copy: whoever gave the bytes may use their memory again.
    this.#held = bytes.slice(at);
    if (from === 0 && at === bytes.length) return bytes;
    parts.push(bytes.subarray(from, at));
    return joinBytes(parts);
  }

  /** Gives the next place at which a secret can begin, or the end. Asked from left to right: a byte that is not there is looked for once. */
  #candidates(bytes: Uint8Array): (from: number) => number {
    const next = this.#firstBytes.map(() => -1);
    return (from) => {
      let nearest = bytes.length;
      for (const [index, byte] of this.#firstBytes.entries()) {
        let place = next[index] ?? -1;
        if (place < from) {
          const found = bytes.indexOf(byte, from);
          place = next[index] = found === -1 ? bytes.length : found;
        }
        nearest = Math.min(nearest, place);
      }
      return nearest;
    };
  }
}

/** Whether the bytes end with the beginning of the secret, not with all of it. */
function isBeginning(bytes: Uint8Array, at: number, secret: Uint8Array): boolean {
  return bytes.length - at < secret.length && isSame(bytes, at, secret, bytes.length - at);
}

function isAt(bytes: Uint8Array, at: number, secret: Uint8Array): boolean {
  return bytes.length - at >= secret.length && isSame(bytes, at, secret, secret.length);
}

function isSame(bytes: Uint8Array, at: number, secret: Uint8Array, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== secret[index]) return false;
  return true;
}
