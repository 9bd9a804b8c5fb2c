import type { CommandOutcome } from '../channel/command-outcome.ts';
import { MAX_CHANNEL_STDIN_BYTES } from '../channel/channel-command.ts';
import { printfFormat, quoted } from '../channel/shell-text.ts';
import { LitterboxError, type LitterboxErrorCode } from '../domain/errors/errors.ts';
import { shown } from '../domain/text/shown.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';
import type { OpenedSandbox } from '../channel/opened-sandbox.ts';
import { residentFiles } from './resident-files.ts';

/** Largest file that is read or written as a whole. Larger ones are for commands inside the sandbox. */
export const MAX_FILE_BYTES = 64 * 2 ** 20;
/** A regular file is read or written well within; what is swapped for a pipe meanwhile is not waited for. */
const FILE_TIMEOUT_MS = 60_000;

/** Whether secrets that the sandbox holds stay in. @defaultValue false */
type RawOptions = CallOptions & { readonly isRaw?: boolean };

/** Exit codes of the scripts below. */
const REFUSALS: Readonly<Record<number, readonly [code: LitterboxErrorCode, what: string]>> = {
  40: ['NOT_FOUND', 'does not exist'],
  49: ['NOT_FOUND', 'does not exist'],
  41: ['IS_A_DIRECTORY', 'is a directory'],
  42: ['NOT_A_REGULAR_FILE', 'is not a regular file'],
  43: ['FILE_TOO_LARGE', `is larger than ${MAX_FILE_BYTES} bytes`],
  44: ['NOT_A_DIRECTORY', 'lies below, or is itself, what is not a directory'],
  45: ['DISK_FULL', 'could not be written to its end, so the old content is there still,'],
  46: ['ALREADY_EXISTS', 'exists'],
  47: ['IS_A_DIRECTORY', 'is a directory that is not empty'],
  48: ['CONFLICT', 'cannot be copied into itself'],
};

const HINTS: Partial<Readonly<Record<LitterboxErrorCode, string>>> = {
  FILE_TOO_LARGE: 'Work on it with a command inside the sandbox.',
  DISK_FULL:
    'See with df what is full in the sandbox, and delete there what is not needed; limits.disk is what bounds it.',
};

/** Ends a script with the exit code that tells why its first argument is no regular file. */
export const ASSERT_FILE = `if [ ! -e "$1" ]; then
  p=$1
  while p=\${p%/*} && [ -n "$p" ]; do
    [ -e "$p" ] || continue
    [ -d "$p" ] || exit 44
    break
  done
  exit 40
fi
[ -d "$1" ] && exit 41
[ -f "$1" ] || exit 42
`;

/** One byte more than may be read shows that there is more, and a file of a terabyte ends there too. */
const READ_SCRIPT = `${ASSERT_FILE}exec head -c "$2" <"$1"`;

/**
 * A temporary file and a rename: whoever reads meanwhile sees the old file or the new one, and a full disk leaves the old. Who watches
 * the directory sees one event of the file, and a name that begins with a dot and has no ending (`isStray` knows it).
 * The function `put` gives the content. The second argument is `x` or `-` for a file that is to be executable or not, or nothing
 * for one whose mode stays as it is; the third a word that no other write has.
 */
const WRITE_SCRIPT = `f=$1
if [ -h "$f" ]; then f=$(readlink -f "$f") || exit 40; fi
[ -d "$f" ] && exit 41
if [ -e "$f" ] && [ ! -f "$f" ]; then exit 42; fi
case $f in */) if [ -e "\${f%/}" ]; then exit 44; else exit 41; fi ;; esac
[ -d "\${f%/*}" ] || mkdir -p "\${f%/*}" 2>/dev/null || exit 44
t=\${f%/*}/.litterbox-$3
no=
{ put || no=45; } >"$t" || no=1
[ -z "$no" ] || { rm -f "$t"; exit $no; }
case $2 in
  x) chmod +x "$t" ;;
  -) ;;
  *)
    if [ ! -e "$f" ]; then :
    elif m=$(stat -c %a "$f" 2>/dev/null); then
      case $m in ????) m=\${m#?} ;; esac
      chmod "$m" "$t"
    elif [ -x "$f" ]; then chmod +x "$t"; fi ;;
esac
mv -f "$t" "$f" || { rm -f "$t"; exit 1; }`;

/** Whether a path is that of a temporary file that a write left when it was killed. */
export const isStray = (path: string): boolean => /(?:^|\/)\.litterbox-[0-9a-f]{8}$/.test(path);

/** The directories that become empty go too, as git keeps none. */
const REMOVE_SCRIPT = `[ -d "$1" ] && [ ! -h "$1" ] && exit 41
[ -e "$1" ] || [ -h "$1" ] || exit 40
rm -f -- "$1" || exit 1
cd "$2" || exit 0
case $1 in "$2"/*/*) f=\${1#"$2"/}; rmdir -p -- "\${f%/*}" 2>/dev/null ;; esac
exit 0`;

/**
 * A file's bytes, up to `maxBytes` of them.
 *
 * @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `NOT_A_DIRECTORY`.
 */
export async function readStart(
  { channel, runtime }: OpenedSandbox,
  target: string,
  maxBytes: number,
  { isRaw, ...options }: RawOptions = {},
): Promise<Uint8Array> {
  const outcome = await channel.run(
    {
      argv: [target, String(maxBytes)],
      script: READ_SCRIPT,
      timeoutMs: FILE_TIMEOUT_MS,
      maxOutputBytes: maxBytes,
      isRaw,
    },
    options,
  );
  assertFileDone('file.read', target, outcome, runtime, options);
  return outcome.stdout.bytes;
}

/** A whole file's bytes. @throws LitterboxError as {@link readStart}, and `FILE_TOO_LARGE`. */
export async function readContent(opened: OpenedSandbox, target: string, options?: RawOptions): Promise<Uint8Array> {
  const bytes = await readStart(opened, target, MAX_FILE_BYTES + 1, options);
  if (bytes.length > MAX_FILE_BYTES) throw fileRefusal('file.read', target, 43);
  return bytes;
}

/**
 * The same, for one that is changed and written back: what is left out of every output would be lost.
 *
 * @throws LitterboxError as {@link readContent}, and `UNSUPPORTED` for a file that holds a secret of the sandbox
 */
export async function readForChange(opened: OpenedSandbox, target: string, options?: CallOptions): Promise<Uint8Array> {
  const content = await readContent(opened, target, { ...options, isRaw: true });
  const name = opened.secrets.nameIn(content);
  if (name === undefined) return content;
  throw new LitterboxError('UNSUPPORTED', `${shown(target)} holds the secret ${name}: only commands change it.`, {
    operation: 'file.change',
    hint: 'Change it by a command inside, such as sed, or replace the whole file.',
  });
}

/** Replaces or makes a file and the directories above it. @throws LitterboxError as {@link readContent}. */
export async function writeContent(
  { runtime, channel }: OpenedSandbox,
  target: string,
  content: Uint8Array,
  { isExecutable, ...options }: CallOptions & { readonly isExecutable?: boolean | undefined } = {},
): Promise<void> {
  if (content.length > MAX_FILE_BYTES) throw fileRefusal('file.write', target, 43);
  const mode = isExecutable === undefined ? '' : isExecutable ? 'x' : '-';
  const words = [target, mode, crypto.randomUUID().slice(0, 8)] as const;
  if (content.length <= MAX_CHANNEL_STDIN_BYTES) {
    options.signal?.throwIfAborted();
    if (await residentFiles(runtime).write(target, mode, words[2], content)) return;
    const script = `put() { printf ${quoted(printfFormat(content))}; }\n${WRITE_SCRIPT}`;
    const outcome = await channel.run({ argv: words, script, timeoutMs: FILE_TIMEOUT_MS }, options);
    assertFileDone('file.write', target, outcome, runtime, options);
    return;
  }
  const argv = ['sh', '-c', `put() { cat; }\n${WRITE_SCRIPT}`, 'sh', ...words] as const;
  await using writer = await runtime.spawn({ argv, stdin: 'pipe' }, options);
  const listening = (async () => {
    for await (const _chunk of writer); // nothing of interest is said; unread output would hold it back
  })();
  await writer.write(content);
  await writer.closeStdin();
  await listening;
  assertFileDone('file.write', target, { exit: await writer.exit }, runtime, options);
}

/** Whether a path has something, whatever it is. */
export async function isThere({ channel }: OpenedSandbox, target: string, options?: CallOptions): Promise<boolean> {
  const { exit } = await channel.run({ argv: [target], script: '[ -e "$1" ] || [ -h "$1" ]' }, options);
  return exit.code === 0;
}

/** @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY`. */
export async function removeContent(
  { channel, runtime }: OpenedSandbox,
  target: string,
  options?: CallOptions,
): Promise<void> {
  const argv = [target, runtime.workdir] as const;
  const outcome = await channel.run({ argv, script: REMOVE_SCRIPT, timeoutMs: FILE_TIMEOUT_MS }, options);
  assertFileDone('file.remove', target, outcome, runtime, options);
}

/** Throws what an outcome of one of these scripts, or of one that begins with {@link ASSERT_FILE}, tells. */
export function assertFileDone(
  operation: string,
  target: string,
  { exit, interruption }: Pick<CommandOutcome, 'exit' | 'interruption'>,
  { workdir }: Pick<SandboxRuntime, 'workdir'>,
  options?: CallOptions,
): void {
  if (interruption === 'abort') throw options?.signal?.reason;
  if (interruption === 'timeout')
    throw new LitterboxError('TIMED_OUT', `${shown(target)} took too long.`, {
      operation,
      hint: 'It may be a pipe or a device; look at it with ls -l in the sandbox.',
    });
  if (exit.code === 0 && !interruption) return;
  throw fileRefusal(operation, target, exit.code, workdir);
}

export function fileRefusal(operation: string, target: string, exitCode: number, workdir?: string): LitterboxError {
  const [code, what] = REFUSALS[exitCode] ?? [
    'PERMISSION_DENIED' as const,
    `cannot be ${operation === 'file.read' ? 'read' : 'written'} (exit code ${exitCode})`,
  ];
  const isElsewhere = code === 'NOT_FOUND' && workdir !== undefined && !target.startsWith(`${workdir}/`);
  return new LitterboxError(code, `${shown(target)} ${what} in the sandbox.`, {
    operation,
    hint: HINTS[code] ?? (isElsewhere ? workspaceIs(workdir) : 'Look with ls -la in the sandbox.'),
  });
}

/** For whoever names a path of the person's machine, such as one behind a link that leads to the repository. */
export function workspaceIs(workdir: string): string {
  return `The workspace is ${shown(workdir)}: name the file from there, such as src/a.js.`;
}
