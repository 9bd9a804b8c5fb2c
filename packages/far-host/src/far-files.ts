import {
  type CallOptions,
  decodeRaw,
  type FileStat,
  type FileType,
  type HostFiles,
  LitterboxError,
  type LitterboxErrorCode,
  quoted,
  shown,
} from '@litterbox/core/provider';
import { removeTree } from '@litterbox/linux-sandbox';

/** Reading more than this is a mistake: what is large is streamed. */
const DEFAULT_MAX_BYTES = 16 * 2 ** 20;
/** Of names in a directory, and of what a tool says. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/** How a script there ended. */
export interface FarAnswer {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** Runs shell text there, in one round trip. @throws LitterboxError `RESOURCE_EXHAUSTED` beyond `maxBytes` of output */
export type FarScript = (
  script: string,
  options: CallOptions & { readonly stdin?: Uint8Array; readonly maxBytes: number },
) => Promise<FarAnswer>;

type Call = CallOptions | undefined;

/** Ends of what `sh`, GNU tools and BusyBox say, in the locale C; most of it is the C library's own text for errno. */
const CODES: readonly (readonly [RegExp, LitterboxErrorCode])[] = [
  [/no such file( or directory)?$|not a directory$|directory nonexistent$/i, 'NOT_FOUND'],
  [/permission denied$|operation not permitted$|read-only file system$/i, 'PERMISSION_DENIED'],
  [/no space left on device$|disk quota exceeded$/i, 'DISK_FULL'],
  [/file exists$|directory not empty$|with non-directory$|with directory$|overwrite directory/i, 'ALREADY_EXISTS'],
  [/too many open files( in system)?$|cannot fork$|cannot allocate memory$/i, 'RESOURCE_EXHAUSTED'],
];

const TYPES: Readonly<Record<string, FileType>> = { f: 'file', d: 'directory', l: 'symlink', s: 'special' };

/** `S_IFMT` and three of its values, as in `inode(7)`. */
const FORMAT_BITS = 0o170000;
const FORMATS: Readonly<Record<number, FileType>> = { 0o100000: 'file', 0o040000: 'directory', 0o120000: 'symlink' };

/** Files of a far machine, by shell text: each call is one round trip. */
export class FarFiles implements HostFiles {
  readonly #run: FarScript;

  constructor(run: FarScript) {
    this.#run = run;
  }

  async read(path: string, options?: CallOptions & { readonly maxBytes?: number }): Promise<Uint8Array | undefined> {
    const maxBytes = options?.maxBytes ?? DEFAULT_MAX_BYTES;
    // A pipe that nobody writes to would never end.
    const answer = await this.#run(
      `[ ! -p ${quoted(path)} ] || exit 0\nexec head -c ${maxBytes + 1} <${quoted(path)}`,
      {
        ...options,
        maxBytes: maxBytes + 1,
      },
    );
    const error = this.#errorOf('file.read', path, answer);
    if (error?.code === 'NOT_FOUND') return undefined;
    if (error) throw error;
    if (answer.stdout.length > maxBytes) {
      throw new LitterboxError('RESOURCE_EXHAUSTED', `${shown(path)} is larger than ${maxBytes} bytes.`, {
        operation: 'file.read',
      });
    }
    return new Uint8Array(answer.stdout);
  }

  async write(path: string, bytes: Uint8Array, options?: CallOptions & { readonly mode?: number }): Promise<void> {
    const temporary = quoted(`${path}.${crypto.randomUUID()}.tmp`);
    const mode = (options?.mode ?? 0o600).toString(8);
    // A connection that is lost ends stdin early: what is too short never gets the name.
    await this.#do('file.write', path, options, {
      script: `umask 077
cat >${temporary} && [ "$(wc -c <${temporary})" -eq ${bytes.length} ] && chmod ${mode} ${temporary} && sync ${temporary} && mv -fT -- ${temporary} ${quoted(path)} && exit 0
rm -f -- ${temporary}
exit 1`,
      stdin: bytes,
    });
  }

  async makeDirectory(path: string, options?: CallOptions & { readonly mode?: number }): Promise<void> {
    const umask = (0o777 & ~(options?.mode ?? 0o700)).toString(8);
    await this.#do('file.make-directory', path, options, { script: `umask ${umask}; mkdir -p -- ${quoted(path)}` });
  }

  async list(path: string, options?: CallOptions) {
    const answer = await this.#run(
      `cd -P -- ${quoted(path)} 2>/dev/null && [ -r . ] || {
if [ -d ${quoted(path)} ]; then echo 'Permission denied' >&2; else echo 'No such file' >&2; fi
exit 1
}
for lb_name in * .[!.]* ..?*; do
if [ -h "$lb_name" ]; then lb_type=l
elif [ -d "$lb_name" ]; then lb_type=d
elif [ -f "$lb_name" ]; then lb_type=f
elif [ -e "$lb_name" ]; then lb_type=s
else continue; fi
printf '%s%s\\0' $lb_type "$lb_name"
done`,
      { ...options, maxBytes: MAX_ANSWER_BYTES },
    );
    const error = this.#errorOf('file.list', path, answer);
    if (error?.code === 'NOT_FOUND') return undefined;
    if (error) throw error;
    return decodeRaw(answer.stdout)
      .split('\0')
      .slice(0, -1)
      .map((entry) => ({ name: entry.slice(1), type: TYPES[entry[0] ?? ''] ?? 'special' }));
  }

  async stat(path: string, options?: CallOptions): Promise<FileStat | undefined> {
    const answer = await this.#run(`stat -c '%f %s %u %g' -- ${quoted(path)}`, { ...options, maxBytes: 1000 });
    const error = this.#errorOf('file.stat', path, answer);
    if (error?.code === 'NOT_FOUND') return undefined;
    if (error) throw error;
    const told = decodeRaw(answer.stdout).trim();
    const [, raw = '', size, uid, gid] = /^([0-9a-f]{1,8}) ([0-9]+) ([0-9]+) ([0-9]+)$/.exec(told) ?? [];
    if (raw === '') throw unexpected('file.stat', path, told);
    const bits = Number.parseInt(raw, 16);
    return {
      type: FORMATS[bits & FORMAT_BITS] ?? 'special',
      sizeBytes: Number(size),
      mode: bits & 0o7777,
      uid: Number(uid),
      gid: Number(gid),
    };
  }

  async rename(source: string, target: string, options?: CallOptions): Promise<void> {
    await this.#do('file.rename', source, options, { script: `mv -fT -- ${quoted(source)} ${quoted(target)}` });
  }

  async remove(path: string, options?: CallOptions): Promise<void> {
    await this.#do('file.remove', path, options, { script: `${removeTree()}remove_tree ${quoted(path)}` });
  }

  async #do(
    operation: string,
    path: string,
    options: Call,
    { script, stdin }: { readonly script: string; readonly stdin?: Uint8Array },
  ): Promise<void> {
    const answer = await this.#run(script, { ...options, maxBytes: MAX_ANSWER_BYTES, ...(stdin && { stdin }) });
    const error = this.#errorOf(operation, path, answer);
    if (error) throw error;
  }

  #errorOf(operation: string, path: string, { code, stderr }: FarAnswer): LitterboxError | undefined {
    if (code === 0) return undefined;
    const last = stderr.trim().split('\n').at(-1) ?? '';
    const [, known = 'INTERNAL' as const] = CODES.find(([pattern]) => pattern.test(last)) ?? [];
    return new LitterboxError(
      known,
      `${operation} ${shown(path)}: ${last === '' ? `exit code ${code}` : shown(last)}`,
      {
        operation,
        ...(known === 'DISK_FULL' && { hint: 'Free some space on that file system, then try again.' }),
        ...(known === 'PERMISSION_DENIED' && { hint: 'Check who owns it, or log in there as a user who may.' }),
      },
    );
  }
}

function unexpected(operation: string, path: string, told: string): LitterboxError {
  return new LitterboxError(
    'PROVIDER_PROTOCOL_ERROR',
    `${operation} ${shown(path)}: the machine answers ${shown(told)}.`,
    {
      operation,
      hint: 'Look whether stat there is GNU or BusyBox, and whether the login files of that user print nothing.',
    },
  );
}
