import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Compares in one time, whatever was given. */
function isSame(given: unknown, wanted: string): boolean {
  return typeof given === 'string' && timingSafeEqual(digestOf(given), digestOf(wanted));
}

/** The one key of the server, and what follows from it: a token for each sandbox, and signatures of addresses of files. */
export class Keys {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  /** @param given the header `X-API-KEY` */
  isKey(given: unknown): boolean {
    return isSame(given, this.#key);
  }

  /** The token that opens files and processes of one sandbox. */
  tokenOf(sandboxId: string): string {
    return createHmac('sha256', this.#key).update(`sandbox ${sandboxId}`).digest('hex');
  }

  /** @param given the header `X-Access-Token` */
  isToken(sandboxId: string, given: unknown): boolean {
    return isSame(given, this.tokenOf(sandboxId));
  }

  /** Whether an address of a file was signed with the token of a sandbox, and holds still. */
  isSigned(sandboxId: string, operation: 'read' | 'write', query: URLSearchParams, nowMs: number): boolean {
    const expiration = query.get('signature_expiration');
    const text = [query.get('path') ?? '', operation, query.get('username') ?? '', this.tokenOf(sandboxId)];
    if (expiration !== null) text.push(expiration);
    const wanted = `v1_${digestOf(text.join(':')).toString('base64').replace(/=+$/, '')}`;
    const isInTime = expiration === null || (/^\d{1,12}$/.test(expiration) && Number(expiration) * 1000 > nowMs);
    return isSame(query.get('signature'), wanted) && isInTime;
  }
}
