import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { LitterboxError } from '@litterbox/core/agent';

/** As much as nobody guesses. */
const TOKEN_BYTES = 32;
/** Clients of E2B want a prefix and digits. */
const FORMS = {
  bearer: { form: /^[A-Za-z0-9_-]{43}$/, make: (bytes: Buffer) => bytes.toString('base64url') },
  e2b: { form: /^e2b_[0-9a-f]{64}$/, make: (bytes: Buffer) => `e2b_${bytes.toString('hex')}` },
} as const;

/**
 * The token in a file that its owner alone may read; made when there is none, and the same at the next start.
 *
 * @param path absolute, in a directory that exists
 * @throws LitterboxError `STATE_DIR_INVALID` when others could read it, or when it holds something else.
 */
export function tokenFrom(path: string, kind: keyof typeof FORMS = 'bearer'): string {
  const refuse = (what: string) =>
    new LitterboxError('STATE_DIR_INVALID', `The token file ${JSON.stringify(path)} ${what}.`, {
      operation: 'serve.start',
      hint: 'Remove it: the next start makes a new one.',
    });
  const made = newFile(path, FORMS[kind].make);
  if (made !== undefined) return made;
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw refuse(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  try {
    const { mode, uid, size } = fstatSync(file);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > 1024) throw refuse('is not a file with a token');
    if ((mode & 0o077) !== 0) throw refuse('can be read by others');
    if (uid !== process.getuid?.()) throw refuse('belongs to another user');
    const token = readFileSync(file, 'utf8').trim();
    if (!FORMS[kind].form.test(token)) throw refuse('does not hold a token');
    return token;
  } finally {
    closeSync(file);
  }
}

function newFile(path: string, make: (bytes: Buffer) => string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  try {
    const token = make(randomBytes(TOKEN_BYTES));
    writeSync(file, `${token}\n`);
    return token;
  } finally {
    closeSync(file);
  }
}
