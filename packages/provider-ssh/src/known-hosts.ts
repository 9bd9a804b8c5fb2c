import { createHmac, timingSafeEqual } from 'node:crypto';

/** A key that a line of a known_hosts file names. */
export interface KnownKey {
  /** As in the file: `ssh-ed25519`, `ssh-rsa`. */
  readonly type: string;
  /** The key itself, as it goes over the wire. */
  readonly blob: Buffer;
  readonly isRevoked: boolean;
}

/**
 * The keys that known_hosts files name for a host. Lines of certificate authorities are passed over, and so is what is no line of such a file.
 * The format is that of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT".
 *
 * @param name `HOST`, or `[HOST]:PORT` where the port is not 22
 */
export function knownKeys(text: string, name: string): readonly KnownKey[] {
  const keys: KnownKey[] = [];
  for (const line of text.split('\n')) {
    const words = line.trim().split(/\s+/);
    const marker = words[0]?.startsWith('@') ? words.shift() : undefined;
    const [patterns = '', type = '', key = ''] = words;
    if (patterns === '' || patterns.startsWith('#') || key === '') continue;
    if (marker !== undefined && marker !== '@revoked') continue;
    if (matches(patterns, name.toLowerCase()))
      keys.push({ type, blob: Buffer.from(key, 'base64'), isRevoked: marker === '@revoked' });
  }
  return keys;
}

function matches(patterns: string, name: string): boolean {
  if (patterns.startsWith('|1|')) return matchesHash(patterns, name);
  let isMatch = false;
  for (const pattern of patterns.toLowerCase().split(',')) {
    const isNegated = pattern.startsWith('!');
    if (!matchesGlob(isNegated ? pattern.slice(1) : pattern, name)) continue;
    if (isNegated) return false;
    isMatch = true;
  }
  return isMatch;
}

/** `|1|SALT|HASH`: HMAC-SHA1 of the name by the salt, both in Base64. */
function matchesHash(pattern: string, name: string): boolean {
  const [, , salt = '', hash = ''] = pattern.split('|');
  const expected = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** `*` and `?` alone mean something, and a bracket stands for itself. */
function matchesGlob(pattern: string, name: string): boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${expression}$`).test(name);
}
