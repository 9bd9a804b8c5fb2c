/** What the sender is told. */
export interface SenderInput {
  /** Begins each line that tells of a change. */
  readonly nonce: string;
  readonly source: string;
  readonly exclude: readonly string[];
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
export function senderArguments({ nonce, source, exclude }: SenderInput): readonly [string, ...string[]] {
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
    '--',
    `${source}/`,
    'far:./', // the receiver is started there
  ];
}

/** A path in which nothing is a pattern. Without a wildcard rsync takes a backslash as it is. */
function literal(path: string): string {
  return /[*?[]/.test(path) ? path.replaceAll(/[*?[\\]/g, '\\$&') : path;
}
