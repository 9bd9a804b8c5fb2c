import {
  type CallOptions,
  decodeRaw,
  type FileStat,
  type FileType,
  type HostFiles,
  LitterboxError,
  type LitterboxErrorCode,
  shown,
} from '@litterbox/core/provider';
import { removeTree } from './unfinished.ts';

/** A POSIX shell on the machine that holds the files, with GNU tools or BusyBox, in the locale C. */
export interface FileShell {
  /**
   * Runs text of ours there, with `words` as its `$1 $2 …`.
   *
   * @throws LitterboxError `RESOURCE_EXHAUSTED` when it prints more than it may
   */
  run(script: string, words: readonly [string, ...string[]], options: FileShellOptions): Promise<FileShellAnswer>;
  /** How much it takes as stdin of one script: more is written by several. @defaultValue any number */
  readonly maxStdinBytes?: number;
}

/** How a script is run. */
export interface FileShellOptions extends CallOptions {
  readonly stdin?: Uint8Array;
  /** Of what it prints. */
  readonly maxOutputBytes: number;
  /** The script changes nothing: it may be run again when it was interrupted. */
  readonly isRead: boolean;
}

/** How a script ended. */
export interface FileShellAnswer {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

type Words = readonly [string, ...string[]];
type Call = CallOptions | undefined;

/** Reading more than this is a mistake: what is large is streamed. */
const DEFAULT_MAX_BYTES = 16 * 2 ** 20;
/** No directory of ours lists more than this. */
const MAX_LIST_BYTES = 64 * 2 ** 20;
const MAX_WORD_BYTES = 4096;

/**
 * Ends of what `sh`, GNU tools and BusyBox say in the locale C; most of it is the C library's own text for errno. A shell's words for what is not
 * there are others in each.
 */
const CODES: readonly (readonly [RegExp, LitterboxErrorCode])[] = [
  [/no such file( or directory)?$|not a directory$|directory nonexistent$/i, 'NOT_FOUND'],
  [/permission denied$|operation not permitted$|read-only file system$/i, 'PERMISSION_DENIED'],
  [/no space left on device$|disk quota exceeded$/i, 'DISK_FULL'],
  [/file exists$|directory not empty$|is a directory$/i, 'ALREADY_EXISTS'],
  [/too many open files( in system)?$|cannot fork$|cannot allocate memory$/i, 'RESOURCE_EXHAUSTED'],
];

const HINTS: Readonly<Partial<Record<LitterboxErrorCode, string>>> = {
  DISK_FULL: 'Free some space on that file system, then try again.',
  PERMISSION_DENIED: 'Check who owns it, or log in there as a user who may.',
};

/** The type bits of a mode. @see https://man7.org/linux/man-pages/man7/inode.7.html */
const TYPE_BITS = 0o170000;
const TYPES: Readonly<Record<number, FileType>> = { 0o100000: 'file', 0o040000: 'directory', 0o120000: 'symlink' };
const LETTERS: Readonly<Record<string, FileType>> = { l: 'symlink', d: 'directory', f: 'file' };

/** Names and types, each ended by NUL: a letter for the type, then the name. By builtins alone. */
const LIST = `[ -d "$1" ] && [ ! -h "$1" ] || { echo 'No such file or directory' >&2; exit 1; }
cd "$1" 2>/dev/null && [ -r . ] || { echo 'Permission denied' >&2; exit 1; }
for lb_name in * .*; do
case $lb_name in .|..) continue ;; esac
if [ -h "$lb_name" ]; then lb_type=l; elif [ -d "$lb_name" ]; then lb_type=d; elif [ -f "$lb_name" ]; then lb_type=f
elif [ -e "$lb_name" ]; then lb_type=s; else continue; fi
printf '%s%s\\000' $lb_type "$lb_name"
done`;

/** Adds stdin to the file `$2`, which lies beside `$1`. */
const APPEND = `umask 077; [ -d "\${2%/*}" ] || { echo 'No such file or directory' >&2; exit 1; }
cat >>"$2"`;

/** Files of a machine that is reached by a shell alone: each call is one script, or a few where much is written. */
export class ShellFiles implements HostFiles {
  readonly #shell: FileShell;

  constructor(shell: FileShell) {
    this.#shell = shell;
  }

  async read(path: string, options?: CallOptions & { readonly maxBytes?: number }): Promise<Uint8Array | undefined> {
    const maxBytes = options?.maxBytes ?? DEFAULT_MAX_BYTES;
    // A pipe that nobody writes to would never end.
    const script = `[ ! -p "$1" ] || exit 0; exec head -c ${maxBytes + 1} <"$1"`;
    const bytes = await this.#print('file.read', path, script, maxBytes + 1, options);
    if (bytes === undefined || bytes.length <= maxBytes) return bytes;
    throw new LitterboxError('RESOURCE_EXHAUSTED', `${shown(path)} is larger than ${maxBytes} bytes.`, {
      operation: 'file.read',
    });
  }

  async write(path: string, bytes: Uint8Array, options?: CallOptions & { readonly mode?: number }): Promise<void> {
    const words = [path, `${path}.${crypto.randomUUID()}.tmp`] as const;
    const { maxStdinBytes = bytes.length } = this.#shell;
    // A file whose stdin was cut short never gets the name. The script takes it away itself: a lost connection leaves nobody else who could.
    const finish = `{ ${APPEND} && [ "$(wc -c <"$2")" -eq ${bytes.length} ] && chmod ${(options?.mode ?? 0o600).toString(8)} "$2" && sync "$2"; } &&
{ [ ! -d "$1" ] || [ -h "$1" ] || { echo 'Is a directory' >&2; false; }; } && mv -fT "$2" "$1" && exit 0
rm -f "$2"
exit 1`;
    let written = 0;
    try {
      for (; bytes.length - written > maxStdinBytes; written += maxStdinBytes)
        await this.#do('file.write', words, APPEND, options, bytes.subarray(written, written + maxStdinBytes));
      await this.#do('file.write', words, finish, options, bytes.subarray(written));
    } catch (error) {
      if (written > 0) await this.remove(words[1]);
      throw error;
    }
  }

  async makeDirectory(path: string, options?: CallOptions & { readonly mode?: number }): Promise<void> {
    const mask = (0o777 & ~(options?.mode ?? 0o700)).toString(8);
    await this.#do('file.make-directory', [path], `umask ${mask}; mkdir -p "$1"`, options);
  }

  async list(path: string, options?: CallOptions) {
    const bytes = await this.#print('file.list', path, LIST, MAX_LIST_BYTES, options);
    return (
      bytes &&
      decodeRaw(bytes)
        .split('\0')
        .slice(0, -1)
        .map((entry) => ({ name: entry.slice(1), type: LETTERS[entry[0] ?? ''] ?? ('special' as const) }))
    );
  }

  async stat(path: string, options?: CallOptions): Promise<FileStat | undefined> {
    const bytes = await this.#print('file.stat', path, `exec stat -c '%f %s %u %g' "$1"`, MAX_WORD_BYTES, options);
    if (!bytes) return undefined;
    const told = decodeRaw(bytes).trim();
    const [, raw, size, uid, gid] = /^([0-9a-f]{1,8}) ([0-9]+) ([0-9]+) ([0-9]+)$/.exec(told) ?? [];
    if (raw === undefined) throw unexpected('file.stat', path, told);
    const bits = Number.parseInt(raw, 16);
    return {
      type: TYPES[bits & TYPE_BITS] ?? 'special',
      sizeBytes: Number(size),
      mode: bits & 0o7777,
      uid: Number(uid),
      gid: Number(gid),
    };
  }

  async rename(source: string, target: string, options?: CallOptions): Promise<void> {
    const script = `[ -e "$1" ] || [ -h "$1" ] || { echo 'No such file or directory' >&2; exit 1; }
[ ! -d "$2" ] || [ -h "$2" ] || [ -d "$1" ] || { echo 'Is a directory' >&2; exit 1; }
exec mv -fT "$1" "$2"`;
    await this.#do('file.rename', [source, target], script, options);
  }

  async remove(path: string, options?: CallOptions): Promise<void> {
    await this.#do('file.remove', [path], `${removeTree()}remove_tree "$1"`, options);
  }

  /** What a script prints; undefined when it says that there is no such file. */
  async #print(
    operation: string,
    path: string,
    script: string,
    maxOutputBytes: number,
    call: Call,
  ): Promise<Uint8Array | undefined> {
    call?.signal?.throwIfAborted();
    const answer = await this.#shell.run(script, [path], { ...call, maxOutputBytes, isRead: true });
    const error = errorOf(operation, path, answer);
    if (!error) return new Uint8Array(answer.stdout);
    if (error.code === 'NOT_FOUND') return undefined;
    throw error;
  }

  async #do(operation: string, words: Words, script: string, call: Call, stdin?: Uint8Array): Promise<void> {
    call?.signal?.throwIfAborted();
    const options = { ...call, maxOutputBytes: MAX_WORD_BYTES, isRead: false, ...(stdin && { stdin }) };
    const error = errorOf(operation, words[0], await this.#shell.run(script, words, options));
    if (error) throw error;
  }
}

function errorOf(operation: string, path: string, { code, stderr }: FileShellAnswer): LitterboxError | undefined {
  if (code === 0) return undefined;
  const last = decodeRaw(stderr).trim().split('\n').at(-1) ?? '';
  const [, known = 'INTERNAL' as const] = CODES.find(([pattern]) => pattern.test(last)) ?? [];
  const hint = HINTS[known];
  const said = last === '' ? `exit code ${code}` : shown(last);
  return new LitterboxError(known, `${operation} ${shown(path)}: ${said}.`, { operation, ...(hint && { hint }) });
}

function unexpected(operation: string, path: string, told: string): LitterboxError {
  return new LitterboxError(
    'PROVIDER_PROTOCOL_ERROR',
    `${operation} ${shown(path)}: the machine answers ${shown(told)}.`,
    {
      operation,
      hint: 'Check whether stat there is GNU or BusyBox, and whether the login files of that user print nothing.',
    },
  );
}
