import {
  type CallOptions,
  type CommandOutcome,
  decodeRaw,
  type FileStat,
  type FileType,
  type HostFiles,
  LitterboxError,
  type LitterboxErrorCode,
  shown,
} from '@litterbox/core/provider';
import { removeTree } from '@litterbox/linux-sandbox';

/** What the files need of the machine that they are on. */
export interface EngineShell {
  /** Runs text of ours in a POSIX shell as root there, with `words` as its `$1 $2 …`, and whatever `stdin` says. */
  run(script: string, words: readonly [string, ...string[]], options: ShellOptions): Promise<CommandOutcome>;
}

export interface ShellOptions extends CallOptions {
  readonly stdin?: Uint8Array;
  /** Kept of what it prints. */
  readonly maxOutputBytes: number;
}

/** Reading more than this is a mistake: what is large is streamed. */
const DEFAULT_MAX_BYTES = 16 * 2 ** 20;
/** No directory of ours lists more than this. */
const MAX_LIST_BYTES = 64 * 2 ** 20;
const MAX_WORD_BYTES = 4096;
/** What a channel takes as a command's stdin. */
const CHUNK_BYTES = 48 * 1024;
/** What the scripts below say when there is no such file. */
const ABSENT = 44;

/** Names and types, each ended by NUL: a letter for the type, then the name. By builtins alone. */
const LIST = `[ -d "$1" ] && [ ! -h "$1" ] || exit ${ABSENT}
cd "$1" || exit 1
for lb_name in * .*; do
case $lb_name in .|..) continue ;; esac
if [ -h "$lb_name" ]; then lb_type=l; elif [ -d "$lb_name" ]; then lb_type=d; elif [ -f "$lb_name" ]; then lb_type=f
elif [ -e "$lb_name" ]; then lb_type=s; else continue; fi
printf '%s%s\\000' $lb_type "$lb_name"
done`;

/** Adds stdin to the file `$2`. A shell's own words for what is not there are another in each. */
const APPEND = `umask 077; [ -d "\${2%/*}" ] || { echo 'No such file or directory' >&2; exit 1; }
cat >>"$2"`;

/** The words of the C library for errno, which every tool repeats. */
const WORDS: readonly (readonly [RegExp, LitterboxErrorCode])[] = [
  [/No such file or directory|Not a directory/, 'NOT_FOUND'],
  [/Permission denied|Operation not permitted|Read-only file system/, 'PERMISSION_DENIED'],
  [/File exists|Directory not empty|Is a directory/, 'ALREADY_EXISTS'],
  [/No space left on device|Disk quota exceeded/, 'DISK_FULL'],
];

/** Files on an engine's own machine, by the shell of a container there. */
export class EngineFiles implements HostFiles {
  readonly #shell: EngineShell;

  constructor(shell: EngineShell) {
    this.#shell = shell;
  }

  async read(path: string, call?: CallOptions & { readonly maxBytes?: number }): Promise<Uint8Array | undefined> {
    const maxBytes = call?.maxBytes ?? DEFAULT_MAX_BYTES;
    const script = `[ -e "$1" ] || exit ${ABSENT}; exec cat "$1"`;
    const bytes = await this.#print('file.read', path, script, [path], maxBytes, call);
    if (bytes === 'too-much')
      throw new LitterboxError('RESOURCE_EXHAUSTED', `${shown(path)} is larger than ${maxBytes} bytes.`, {
        operation: 'file.read',
      });
    return bytes;
  }

  async write(path: string, bytes: Uint8Array, call?: CallOptions & { readonly mode?: number }): Promise<void> {
    const temporary = `${path}.${crypto.randomUUID()}.tmp`;
    const words = [path, temporary] as const;
    const mode = (call?.mode ?? 0o600).toString(8);
    let written = 0;
    try {
      for (; bytes.length - written > CHUNK_BYTES; written += CHUNK_BYTES)
        await this.#do('file.write', path, APPEND, [...words], {
          ...call,
          stdin: bytes.subarray(written, written + CHUNK_BYTES),
        });
      const script = `${APPEND} && chmod ${mode} "$2" && sync "$2" || exit 1
[ ! -d "$1" ] || [ -h "$1" ] || { echo 'Is a directory' >&2; exit 1; }
exec mv -fT "$2" "$1"`;
      await this.#do('file.write', path, script, [...words], { ...call, stdin: bytes.subarray(written) });
    } catch (error) {
      await this.remove(temporary);
      throw error;
    }
  }

  async makeDirectory(path: string, call?: CallOptions & { readonly mode?: number }): Promise<void> {
    const mask = (0o777 & ~(call?.mode ?? 0o700)).toString(8);
    await this.#do('file.make-directory', path, `umask ${mask}; mkdir -p "$1"`, [path], call);
  }

  async list(path: string, call?: CallOptions) {
    const bytes = await this.#print('file.list', path, LIST, [path], MAX_LIST_BYTES, call);
    if (bytes === 'too-much')
      throw new LitterboxError('RESOURCE_EXHAUSTED', `${shown(path)} holds too many files to list.`, {
        operation: 'file.list',
      });
    if (!bytes) return undefined;
    const types: Readonly<Record<string, FileType>> = { l: 'symlink', d: 'directory', f: 'file' };
    return decodeRaw(bytes)
      .split('\0')
      .filter((entry) => entry !== '')
      .map((entry) => ({ name: entry.slice(1), type: types[entry[0] ?? ''] ?? ('special' as const) }));
  }

  async stat(path: string, call?: CallOptions): Promise<FileStat | undefined> {
    const script = `[ -e "$1" ] || [ -h "$1" ] || exit ${ABSENT}; exec stat -c '%f %s %u %g' "$1"`;
    const bytes = await this.#print('file.stat', path, script, [path], MAX_WORD_BYTES, call);
    if (!bytes || bytes === 'too-much') return undefined;
    const [raw = '', sizeBytes, uid, gid] = decodeRaw(bytes).trim().split(' ');
    const mode = Number.parseInt(raw, 16);
    return {
      type: TYPES[mode & 0o170000] ?? 'special',
      sizeBytes: Number(sizeBytes),
      mode: mode & 0o7777,
      uid: Number(uid),
      gid: Number(gid),
    };
  }

  async rename(source: string, target: string, call?: CallOptions): Promise<void> {
    const script = `[ -e "$1" ] || [ -h "$1" ] || { echo 'No such file or directory' >&2; exit 1; }
[ ! -d "$2" ] || [ -h "$2" ] || [ -d "$1" ] || { echo 'Is a directory' >&2; exit 1; }
exec mv -fT "$1" "$2"`;
    await this.#do('file.rename', source, script, [source, target], call);
  }

  async remove(path: string, call?: CallOptions): Promise<void> {
    await this.#do('file.remove', path, `${removeTree()}remove_tree "$1"`, [path], call);
  }

  /** What a script prints; undefined when it says that the file is absent. */
  async #print(
    operation: string,
    path: string,
    script: string,
    words: readonly [string, ...string[]],
    maxBytes: number,
    call?: CallOptions,
  ): Promise<Uint8Array | 'too-much' | undefined> {
    const { exit, stdout, stderr } = await this.#run(script, words, { ...call, maxOutputBytes: maxBytes }, true);
    if (stdout.droppedBytes > 0) return 'too-much';
    if (exit.code === 0) return stdout.bytes;
    if (exit.code === ABSENT) return undefined;
    throw failure(operation, path, stderr.bytes);
  }

  async #do(
    operation: string,
    path: string,
    script: string,
    words: readonly [string, ...string[]],
    call?: CallOptions & { readonly stdin?: Uint8Array },
  ): Promise<void> {
    const { exit, stderr } = await this.#run(script, words, { ...call, maxOutputBytes: MAX_WORD_BYTES });
    if (exit.code !== 0) throw failure(operation, path, stderr.bytes);
  }

  /** @param isAgain whether it is run once more when the container ends under it: true of what only reads */
  async #run(
    script: string,
    words: readonly [string, ...string[]],
    options: ShellOptions,
    isAgain = false,
  ): Promise<CommandOutcome> {
    options.signal?.throwIfAborted();
    const outcome = await this.#shell.run(script, words, options);
    options.signal?.throwIfAborted();
    if (!outcome.interruption) return outcome;
    if (isAgain) return await this.#run(script, words, options);
    throw new LitterboxError('UNAVAILABLE', "The container that the engine's files are reached through has ended.", {
      operation: 'provider.files',
      hint: 'Try again: it is started by itself.',
    });
  }
}

/** The type bits of a mode. @see https://man7.org/linux/man-pages/man7/inode.7.html */
const TYPES: Readonly<Record<number, FileType>> = { 0o100000: 'file', 0o040000: 'directory', 0o120000: 'symlink' };

function failure(operation: string, path: string, bytes: Uint8Array): LitterboxError {
  const said = decodeRaw(bytes).trim();
  const [, code = 'INTERNAL'] = WORDS.find(([words]) => words.test(said)) ?? [];
  return new LitterboxError(code, `${operation} ${shown(path)}: ${said === '' ? 'no message' : shown(said)}.`, {
    operation,
    ...(code === 'DISK_FULL' && { hint: 'Free some space where the engine keeps its data, then try again.' }),
  });
}
