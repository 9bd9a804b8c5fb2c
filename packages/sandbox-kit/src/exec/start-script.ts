import { DEFAULT_PATH } from './default-path.ts';
import { encodeRaw, printfFormat, type ProcessSpec, quoted } from '@litterbox/core/provider';

export interface StartScriptInput {
  readonly argv: ProcessSpec['argv'];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names that the container's environment has and this process's must not. */
  readonly foreign: readonly string[];
  /** Open descriptors at most. */
  readonly openFiles: number;
  /** Processes and threads of its user at most; absent where the engine bounds them. */
  readonly processes?: number | undefined;
  /** Whether stdin comes as lengths and bytes, as `FRAMED_STDIN` takes them apart. */
  readonly hasFramedStdin: boolean;
  /** Numbers of the processors that it is to be bound to; none where the container is. */
  readonly processors: readonly number[];
  /** Absolute path of the directory that the sandbox's user owns, and that everything begins in. */
  readonly workspace?: string | undefined;
  readonly hasTerminal: boolean;
  /** Marks our own words in the output: nobody knew it before. */
  readonly nonce: string;
}

/** In front of each of our own words; the nonce follows. As the exec channel of core does it. */
const MARK = '\\036';

/**
 * Says which process it is and becomes the program. By then it leads its own group where `setsid` exists.
 */
const REPORT_AND_BECOME = `read -r lb_me lb_rest </proc/self/stat; printf '${MARK}%s started %s %s\\n' "$0" "$1" "$lb_me"; shift; exec "$@"`;

/**
 * The program that an engine starts for a process, with {@link startEnvironment}: text for a POSIX shell. It says `started`, with its own process number and the
 * program's, or `no-limit`, `no-cwd` or `no-program`; a program without a terminal is its child, whose end it tells on stderr (`exit CODE`),
 * because the engine tells of it only when nobody holds the outputs any more. One with a terminal waits until it is told to go on
 * ({@link goOn}): by then its terminal has its size.
 */
export function startScript(input: StartScriptInput): string {
  const { argv, cwd, env, foreign, openFiles, processes, processors, hasTerminal, nonce, workspace } = input;
  const raw = new RawWords();
  const words = argv.map((word) => raw.word(word)).join(' ');
  const say = (text: string) => `printf '${MARK}%s ${text}\\n' ${nonce}`;
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value.isWellFormed() ? [] : [`lb_raw=$(printf "$${name}"); export ${name}="\${lb_raw%x}"`],
  );
  const target = raw.word(cwd);
  return [
    // Podman without root takes the container's limit and drops it in silence. Where the engine has set it, this changes nothing.
    `ulimit -n ${openFiles} 2>/dev/null || { ${say('no-limit')}; exit 0; }`,
    // bash has another letter for it. No core is dumped where the engine did not say so.
    ...(processes === undefined
      ? []
      : [
          `{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null && ulimit -c 0 || { ${say('no-limit')}; exit 0; }`,
        ]),
    // So that programs see how many they may use at once; the limit of processors holds without.
    ...(processors.length > 0 ? [`taskset -p ${maskOf(processors)} $$ >/dev/null 2>&1`] : []),
    // Of the image: what the process finds first may be a file of an agent's.
    ...(hasTerminal ? [] : [`lb_setsid=$(PATH=${DEFAULT_PATH}\${PATH:+:$PATH}; command -v setsid)`]),
    ...raw.assignments,
    ...(foreign.length > 0 ? [`unset ${foreign.join(' ')}`] : []),
    ...variables,
    // A workspace that an agent has closed to itself would let nothing begin any more.
    `cd ${target} 2>/dev/null ${cwd === workspace ? `|| { chmod u+rwx ${target} && cd ${target}; } 2>/dev/null ` : ''}|| { ${say('no-cwd')}; exit 0; }`,
    'unset OLDPWD',
    `set -- ${words}`,
    `command -v "$1" >/dev/null 2>&1 || { ${say('no-program')}; exit 0; }`,
    ...(hasTerminal
      ? [`printf '${MARK}%s started %s %s\\n' ${nonce} $$ $$`, 'kill -STOP $$', 'exec "$@"']
      : [
          // Its status is the wrapper's too: where input that nobody read breaks the connection, only the engine can tell it.
          ...framed(
            input.hasFramedStdin,
            `( exec $lb_setsid /bin/sh -c ${quoted(REPORT_AND_BECOME)} ${nonce} $$ "$@" )
lb_status=$?; printf '${MARK}%s exit %s\\n' ${nonce} $lb_status >&2`,
          ),
        ]),
  ].join('\n');
}

/**
 * What the engine is told of the environment: no part of the script, for every user of the machine reads the arguments of its processes.
 * JSON carries no text that is no UTF-8: such a value is a format for `printf`, which {@link startScript} undoes.
 */
export function startEnvironment(env: Readonly<Record<string, string>>): string[] {
  // A command substitution loses line ends at the end of the text: an x keeps them.
  return Object.entries(env).map(
    ([name, value]) => `${name}=${value.isWellFormed() ? value : `${printfFormat(encodeRaw(value))}x`}`,
  );
}

/**
 * Shell text around a program whose stdin ends where a length of 0 says so. What takes the input apart may still wait for more when the program
 * has ended: then the wrapper kills itself rather than wait, and its end closes that input.
 */
function framed(isFramed: boolean, program: string): readonly string[] {
  if (!isFramed) return [`${program}; exit $lb_status`];
  return [
    'exec 3<&0 </dev/null',
    'lb_take() { while IFS= read -r lb_n && [ "$lb_n" -gt 0 ]; do dd bs=$lb_n count=1 iflag=fullblock || return; done; }',
    `lb_take <&3 3<&- 2>/dev/null | { exec 3<&-\n${program}\nkill -KILL $$; }`.replaceAll('\\n', '\n'),
  ];
}

/** As `taskset` of BusyBox and of util-linux read it: bits in hexadecimal. */
const maskOf = (processors: readonly number[]) =>
  processors.reduce((mask, processor) => mask | (1n << BigInt(processor)), 0n).toString(16);

/** Words of a script that JSON can carry: text that is no UTF-8 comes from the shell's own `printf`. */
class RawWords {
  readonly assignments: string[] = [];

  word(text: string): string {
    if (text.isWellFormed()) return quoted(text);
    const name = `lb_${this.assignments.length}`;
    // A command substitution loses line ends at the end of the text: an x keeps them.
    this.assignments.push(`${name}=$(printf ${quoted(`${printfFormat(encodeRaw(text))}x`)}); ${name}=\${${name}%x}`);
    return `"$${name}"`;
  }
}

/** Shell text, after core's kill function: lets a program with a terminal go on once it waits. */
export function goOn(pid: number): string {
  return `lb_n=0; while lb_parent /proc/${pid}; [ "$lb_pp" ] && [ "$lb_z" != T ] && [ $lb_n -lt 100000 ]; do lb_n=$((lb_n+1)); done; kill -CONT ${pid}`;
}
