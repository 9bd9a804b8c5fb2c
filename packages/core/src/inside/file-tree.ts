import type { CommandOutcome } from '../channel/command-outcome.ts';
import { decodeRaw } from '../domain/text/raw-text.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { OpenedSandbox } from '../channel/opened-sandbox.ts';
import { assertFileDone } from './file-contents.ts';

/** What lies at a path of a sandbox. */
export interface FileStatus {
  /** Of what a link leads to; `other` for a pipe, a socket, a device, and a link that leads nowhere. */
  readonly type: 'file' | 'directory' | 'other';
  /** The path itself is a link. */
  readonly isLink: boolean;
  /** As the file system says; of a link that of the file behind it. */
  readonly sizeBytes: number;
  /** Since 1970, to the second. */
  readonly modifiedMs: number;
  /** Permissions as a number, such as 0o644, and the names of who owns it. Absent where the sandbox has no `stat`, and for a link that leads nowhere. */
  readonly access?: { readonly mode: number; readonly owner: string; readonly group: string };
  /** Where a link leads, as it says. */
  readonly linkTarget?: string;
}

const TIMEOUT_MS = 60_000;
/** The directory that it is to lie in is not there. */
const NO_PARENT = 49;
const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';
const TYPES: Readonly<Record<string, FileStatus['type']>> = { d: 'directory', r: 'file' };

/** Not every `stat` knows formats. What is no regular file is not opened: a pipe would wait. */
const STATUS_SCRIPT = `[ -e "$1" ] || [ -h "$1" ] || exit 40
l=- t=o
[ -h "$1" ] && l=l
[ -d "$1" ] && t=d
[ -f "$1" ] && t=r
s=$(stat -L -c '%s %Y %a %U %G' -- "$1" 2>/dev/null) ||
  s="$([ "$t" = r ] && wc -c <"$1" || echo 0) $(date -r "$1" +%s 2>/dev/null || echo 0)"
echo "$l $t" $s
[ "$l" = - ] || readlink -- "$1" || :`;

const MAKE_SCRIPT = `if [ "$2" = all ]; then
  mkdir -p -- "$1" 2>/dev/null && exit 0
  exit 44
fi
if [ -e "$1" ] || [ -h "$1" ]; then exit 46; fi
d=\${1%/*}
[ -e "\${d:-/}" ] || exit 49
[ -d "\${d:-/}" ] || exit 44
mkdir -- "$1"`;

const REMOVE_SCRIPT = `[ -e "$1" ] || [ -h "$1" ] || exit 40
if [ -d "$1" ] && [ ! -h "$1" ] && [ "$2" != all ]; then
  rmdir -- "$1" 2>/dev/null || exit 47
  exit 0
fi
rm -rf -- "$1"`;

/** A directory is copied into one that is there, as it is; \`cp\` alone would put it below. */
const COPY_SCRIPT = `[ -e "$1" ] || [ -h "$1" ] || exit 40
d=\${2%/*}
[ -d "\${d:-/}" ] || exit 49
if [ -d "$1" ] && [ ! -h "$1" ]; then
  [ "$3" = all ] || exit 41
  case $2/ in "$1"/*) exit 48 ;; esac
  mkdir -p -- "$2" && cp -R -P -p -- "$1/." "$2/"
  exit
fi
[ -d "$2" ] && exit 41
cp -P -p -- "$1" "$2"`;

/** @throws LitterboxError `NOT_FOUND`. */
export async function statusOf(opened: OpenedSandbox, target: string, options?: CallOptions): Promise<FileStatus> {
  const { stdout } = await run(opened, 'file.read', STATUS_SCRIPT, [target], options);
  const printed = decodeRaw(stdout.bytes);
  const lineEnd = printed.indexOf('\n');
  const [link, type = '', sizeBytes, seconds, mode, owner, group] = printed.slice(0, lineEnd).split(' ');
  const linkTarget = printed.slice(lineEnd + 1).replace(/\n$/, '');
  return {
    type: TYPES[type] ?? 'other',
    isLink: link === 'l',
    sizeBytes: Number(sizeBytes) || 0,
    modifiedMs: (Number(seconds) || 0) * 1000,
    ...(mode !== undefined && owner && group && { access: { mode: Number.parseInt(mode, 8) || 0, owner, group } }),
    ...(link === 'l' && linkTarget !== '' && { linkTarget }),
  };
}

/** @throws LitterboxError `NOT_A_DIRECTORY`; unless `isRecursive`, `ALREADY_EXISTS` and `NOT_FOUND`. */
export async function makeDirectory(
  opened: OpenedSandbox,
  target: string,
  isRecursive: boolean,
  options?: CallOptions,
): Promise<void> {
  await run(opened, 'file.write', MAKE_SCRIPT, [target, isRecursive ? 'all' : 'one'], options);
}

/** @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY` for one that is not empty unless `isRecursive`. */
export async function removePath(
  opened: OpenedSandbox,
  target: string,
  isRecursive: boolean,
  options?: CallOptions,
): Promise<void> {
  await run(opened, 'file.write', REMOVE_SCRIPT, [target, isRecursive ? 'all' : 'one'], options);
}

/** @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY` unless `isRecursive`, `CONFLICT` for a directory into itself. */
export async function copyPath(
  opened: OpenedSandbox,
  [source, target]: readonly [source: string, target: string],
  isRecursive: boolean,
  options?: CallOptions,
): Promise<void> {
  await run(opened, 'file.write', COPY_SCRIPT, [source, target, isRecursive ? 'all' : 'one'], options);
}

async function run(
  { channel, runtime }: OpenedSandbox,
  operation: 'file.read' | 'file.write',
  script: string,
  argv: readonly [string, ...string[]],
  options?: CallOptions,
): Promise<CommandOutcome> {
  const outcome = await channel.run({ argv, script, timeoutMs: TIMEOUT_MS, env: { LC_ALL: 'C' } }, options);
  const isWithoutParent = outcome.exit.code === NO_PARENT && !outcome.interruption;
  const target = script === COPY_SCRIPT ? (argv[1] ?? argv[0]) : argv[0];
  assertFileDone(operation, isWithoutParent ? parentOf(target) : argv[0], outcome, runtime, options);
  return outcome;
}
