/** What the sender is told. */
export interface SenderInput {
  /** Begins each line that tells of a change. */
  readonly nonce: string;
  readonly source: string;
  readonly exclude: readonly string[];
  /** Absent: everything. */
  readonly only: readonly string[] | undefined;
}

/** Seconds without a byte after which a side gives up. */
const SILENCE_SECONDS = 60;

/**
 * In place of a remote shell: says which program is to run at the other side, number of words first, and then is the connection.
 * Descriptors 3 and 4 lead to us. In quotes as rsync reads them, where a doubled quote is one.
 */
const CONNECTION = `sh -c 'shift
printf ''%s\\0'' "$#" "$@" >&4
exec 5<&0
cat <&5 >&4 &
exec cat <&3' sh`;

/** The connection on 0 and 1, what is told on 2. Names are arguments, never part of this. */
const START = 'exec 3<&0 4>&1; exec rsync "$@" </dev/null >&2';

/** The program at the side of the source, with everything it is told. */
export function senderArguments({ nonce, source, exclude, only }: SenderInput): readonly [string, ...string[]] {
  return [
    'env',
    'LC_ALL=C', // so that every byte beyond ASCII is told in octal
    'sh',
    '-c',
    START,
    'sh',
    '--secluded-args', // paths travel by the protocol, not by words of a shell
    '--recursive',
    '--links',
    '--perms',
    '--chmod=u-s,g-s,-t',
    '--times',
    '--omit-dir-times',
    '--checksum',
    '--delete',
    `--timeout=${SILENCE_SECONDS}`,
    '--outbuf=L',
    `--out-format=${nonce} %i %n`,
    `--rsh=${CONNECTION}`,
    ...exclude.map((path) => `--exclude=/${literal(path)}`),
    ...(only ? [...only.flatMap(inclusions), '--exclude=*'] : []),
    '--',
    `${source}/`,
    'far:./', // the receiver is started there
  ];
}

/** The first rule that matches decides, and what lies in a directory that is left out is not looked at. */
function inclusions(path: string): readonly string[] {
  const names = path.split('/');
  const above = names.slice(0, -1).map((_name, index) => `--include=/${literal(names.slice(0, index + 1).join('/'))}/`);
  return [...above, `--include=/${literal(path)}`, `--include=/${escaped(path)}/***`];
}

/** A path in which nothing is a pattern, in a rule that has a wildcard of ours. */
const escaped = (path: string) => path.replaceAll(/[*?[\\]/g, '\\$&');

/** A path in which nothing is a pattern. Without a wildcard rsync takes a backslash as it is. */
function literal(path: string): string {
  return /[*?[]/.test(path) ? escaped(path) : path;
}
