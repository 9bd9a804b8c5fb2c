import { randomBytes } from 'node:crypto';
import { chown, lstat, mkdir, open, readFile, readlink, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { LitterboxError, type LitterboxErrorCode, shown } from '@litterbox/core';

/** A configuration of megabytes is a mistake, or a file of something else. `~/.claude.json` grows to some of them. */
const MAX_BYTES = 32 * 2 ** 20;
const MAX_LINKS = 40;
const BYTE_ORDER_MARK = '\uFEFF';

const CODES: Readonly<Record<string, LitterboxErrorCode>> = {
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
  ENOTDIR: 'NOT_A_DIRECTORY',
  EEXIST: 'NOT_A_DIRECTORY',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
};

/** A configuration file of a person, as it is now. */
export interface ConfigFile {
  /** As people know it. */
  readonly path: string;
  /** Where it is, behind symbolic links: that file is replaced, and the links stay. */
  readonly target: string;
  /** Without the byte order mark; absent when there is no file. */
  readonly text?: string;
  readonly hasByteOrderMark: boolean;
  /** Directories that writing it would make, the outermost first. */
  readonly missingDirectories: readonly string[];
}

/**
 * Reads it, or finds out where it would be.
 *
 * @param within a directory that the file may not leave by links: a repository is not the person
 * @throws LitterboxError `PATH_OUTSIDE_WORKDIR`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`, `CONFIG_ENCODING`, `PERMISSION_DENIED`.
 */
export async function readConfigFile(path: string, within?: string): Promise<ConfigFile> {
  return await told(path, async () => {
    const { target, missingDirectories } = await targetOf(path);
    if (within !== undefined && !target.startsWith((await realpath(within)) + sep)) {
      throw new LitterboxError('PATH_OUTSIDE_WORKDIR', `${shown(path)} is a link that leads out of the repository.`, {
        operation: 'agent.read',
        hint: `It leads to ${shown(target)}. Replace the link by a file, or use --scope user.`,
      });
    }
    const found = await stat(target).catch(unlessMissing);
    if (!found) return { path, target, hasByteOrderMark: false, missingDirectories };
    if (!found.isFile()) {
      throw new LitterboxError('NOT_A_REGULAR_FILE', `${shown(path)} is not a regular file.`, {
        operation: 'agent.read',
        hint: 'Move it aside.',
      });
    }
    if (found.size > MAX_BYTES) {
      throw new LitterboxError(
        'FILE_TOO_LARGE',
        `${shown(path)} has ${found.size} bytes; Litterbox reads at most ${MAX_BYTES}.`,
        {
          operation: 'agent.read',
          hint: 'Is this the right file?',
        },
      );
    }
    const text = decoded(await readFile(target), path);
    const hasByteOrderMark = text.startsWith(BYTE_ORDER_MARK);
    return { path, target, text: hasByteOrderMark ? text.slice(1) : text, hasByteOrderMark, missingDirectories };
  });
}

/**
 * Puts the text in its place, all of it or nothing; without a text the file goes, with those of the directories that are empty then.
 * Mode and owner stay; `mode` is for a file that is new.
 *
 * @throws LitterboxError `CONFLICT` when the file is not what was read any more.
 */
export async function writeConfigFile(
  file: ConfigFile,
  text: string | undefined,
  directories: readonly string[] = [],
  mode?: number,
): Promise<void> {
  const { path, target } = file;
  await told(path, async () => {
    const now = await readConfigFile(path);
    if (now.text !== file.text || now.target !== target) {
      throw new LitterboxError('CONFLICT', `${shown(path)} changed meanwhile.`, {
        operation: 'agent.write',
        hint: 'Nothing was written. Run the command again.',
      });
    }
    if (text === undefined) {
      await rm(target, { force: true });
      for (const directory of directories.toReversed())
        if (
          !(await rmdir(directory).then(
            () => true,
            () => false,
          ))
        )
          break;
      return;
    }
    for (const directory of file.missingDirectories) await mkdir(directory, { recursive: true });
    await replaceFile(target, (file.hasByteOrderMark ? BYTE_ORDER_MARK : '') + text, mode);
  });
}

/** The text under that name, all of it or what was there before. Mode and owner of a file that was there stay. */
export async function replaceFile(target: string, text: string, mode = 0o666): Promise<void> {
  const before = await stat(target).catch(unlessMissing);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', before ? 0o600 : mode);
    try {
      await handle.writeFile(text);
      if (before) {
        const { uid, gid } = await handle.stat();
        if (uid !== before.uid || gid !== before.gid)
          await chown(temporary, before.uid, before.gid).catch(() => undefined); // only root may
        await handle.chmod(before.mode & 0o7777);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function targetOf(path: string): Promise<Pick<ConfigFile, 'target' | 'missingDirectories'>> {
  let place = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const missingDirectories: string[] = [];
    let directory = dirname(place);
    let real = await realpath(directory).catch(unlessMissing);
    let rest = '';
    while (real === undefined) {
      missingDirectories.unshift(directory);
      rest = join(basename(directory), rest);
      directory = dirname(directory);
      real = await realpath(directory).catch(unlessMissing);
    }
    const target = join(real, rest, basename(place));
    const found = await lstat(target).catch(unlessMissing);
    if (!found?.isSymbolicLink()) return { target, missingDirectories };
    place = resolve(dirname(target), await readlink(target));
  }
  throw new LitterboxError('NOT_A_REGULAR_FILE', `${shown(path)} is a link that leads to itself.`, {
    operation: 'agent.read',
    hint: 'Remove the link.',
  });
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new LitterboxError(
      'CONFIG_ENCODING',
      `${shown(path)} is not text in UTF-8.`,
      { operation: 'agent.read', hint: 'Save it as UTF-8.' },
      { cause },
    );
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Runs it; what the file system refuses is told as an error of ours. */
export async function told<Result>(path: string, body: () => Promise<Result>): Promise<Result> {
  try {
    return await body();
  } catch (error) {
    const code = CODES[(error as NodeJS.ErrnoException).code ?? ''];
    if (code === undefined) throw error;
    throw new LitterboxError(
      code,
      `${shown(path)}: ${(error as Error).message}`,
      { operation: 'agent.write', hint: 'Check the path and who may write there.' },
      { cause: error },
    );
  }
}
