import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** As much as nobody guesses. */
const TOKEN_BYTES = 32;
/** Windows of one person. The oldest session ends when there are more. */
const MAX_SESSIONS = 32;

const digestOf = (text: string) => createHash('sha256').update(text).digest();
const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');

/**
 * A link opens one window. The page hands the token of its link over once and gets that of a session, so that a link that stays in a
 * history, a list of processes or a terminal is worth nothing.
 */
export class SessionTokens {
  readonly #links = new Set<string>();
  readonly #sessions: Buffer[] = [];

  /** A token for one more link. */
  newLink(): string {
    const token = newToken();
    this.#links.add(digestOf(token).toString('hex'));
    return token;
  }

  /** The token of a new session for that of a link. Undefined where it is none, or was used. */
  exchange(link: string): string | undefined {
    if (!this.#links.delete(digestOf(link).toString('hex'))) return undefined;
    const token = newToken();
    this.#sessions.push(digestOf(token));
    if (this.#sessions.length > MAX_SESSIONS) this.#sessions.shift();
    return token;
  }

  isSession(token: string): boolean {
    const given = digestOf(token);
    return this.#sessions.some((known) => timingSafeEqual(known, given));
  }
}
