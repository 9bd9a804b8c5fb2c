import { Buffer } from 'node:buffer';
import { existsSync, lstatSync, mkdirSync, type Stats, statfsSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { encodeRaw, LitterboxError, networkFileSystem, shown } from '@litterbox/core/provider';

/** SQLite takes paths of 512 bytes; the longest name of ours below the directory needs 60 of them. */
const MAX_DIRECTORY_BYTES = 440;

/**
 * Makes the directory if it is missing and checks that nobody else can read or change what is in it.
 *
 * @throws LitterboxError `STATE_DIR_INVALID`, `UNSUPPORTED_FS`.
 */
export function prepareStateDirectory(directory: string): void {
  const refuse = (reason: string, hint: string, cause?: unknown) =>
    new LitterboxError(
      'STATE_DIR_INVALID',
      `The state directory ${shown(directory)} ${reason}.`,
      { operation: 'state.open', hint },
      { cause },
    );
  if (directory.includes('\0')) throw refuse('holds a NUL character', 'Name another directory.');
  if (!isAbsolute(directory)) {
    throw refuse('is relative, an absolute path is needed', 'Set LITTERBOX_HOME to an absolute path.');
  }
  const bytes = Buffer.from(encodeRaw(resolve(directory))); // without a slash at the end, which would follow a link
  if (bytes.length > MAX_DIRECTORY_BYTES) {
    const got = `is ${bytes.length} bytes long, at most ${MAX_DIRECTORY_BYTES} are possible`;
    throw refuse(got, 'Set LITTERBOX_HOME to a shorter path.');
  }
  let stats: Stats;
  try {
    makeDirectories(bytes);
    stats = lstatSync(bytes);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' || (cause as NodeJS.ErrnoException).code === 'ENOTDIR') {
      throw refuse('is not a directory', 'Move what is there aside, or set LITTERBOX_HOME to another path.', cause);
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refuse(`cannot be made: ${reason}`, 'Set LITTERBOX_HOME to a directory that you may write.', cause);
  }
  const path = shown(resolve(directory));
  if (stats.isSymbolicLink()) {
    throw refuse('is a symbolic link, a directory is needed', 'Set LITTERBOX_HOME to the path it leads to.');
  }
  if (!stats.isDirectory()) throw refuse('is not a directory', 'Set LITTERBOX_HOME to another path.');
  const user = process.geteuid?.();
  if (user !== undefined && stats.uid !== user) {
    throw refuse(
      `belongs to user ${stats.uid}, it must belong to user ${user}`,
      'Run as its owner, or set LITTERBOX_HOME to a directory of your own.',
    );
  }
  if (user !== undefined && (stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    throw refuse(`has mode ${mode}, others may enter it; it must be 0700`, `Run \`chmod 700 ${path}\`.`);
  }
  const network = networkFileSystem(statfsSync(bytes).type);
  if (network !== undefined) {
    throw new LitterboxError(
      'UNSUPPORTED_FS',
      `The state directory ${path} is on ${network}, whose locks do not hold between machines.`,
      { operation: 'state.open', hint: 'Set LITTERBOX_HOME to a directory on a local disk.' },
    );
  }
}

/** Not `recursive`: for that, Node goes round for ever where the kernel knows no such directory and lets none be made, as in /proc. */
function makeDirectories(bytes: Buffer): void {
  const asBytes = (path: string) => Buffer.from(path, 'latin1');
  const missing: string[] = [];
  for (let path = bytes.toString('latin1'); !existsSync(asBytes(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    try {
      mkdirSync(asBytes(path), { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another program was faster, or a link is there
    }
  }
}
