import type { SecretOrigin } from '../../domain/secrets/secret-origin.ts';
import type { CallOptions } from '../common/call.ts';

/** Secret source port: reads secrets of the person on their own machine. Nothing is kept: each call asks again. */
export interface SecretSource {
  /**
   * May wait for as long as a person takes to unlock a keyring. No error repeats the value, or a part of it.
   *
   * @returns 1 to 16,384 characters on one line, without control characters and without the line break at the end
   * @throws LitterboxError `SECRET_NOT_FOUND` when nothing is kept there, `PERMISSION_DENIED` for a file that somebody else could have
   *   read or written, `TOOL_MISSING` without the program that reads it, `UNAVAILABLE` when that program fails, `UNSUPPORTED` for a value of another shape
   */
  read(origin: SecretOrigin, options?: CallOptions): Promise<string>;
}

/** A shorter value would be found everywhere in what is searched for it. */
export const MIN_SECRET_CHARACTERS = 8;

/** The longest value of a secret. */
export const MAX_SECRET_CHARACTERS = 16_384;
