import {
  exitStatusOf,
  CALL_VARIABLE,
  quoted,
  LitterboxError,
  decodeRaw,
  encodeRaw,
  shown,
  type CallOptions,
  type Host,
  type ExitStatus,
  type OutputChunk,
  type ProcessHandle,
  type ProcessSpec,
  type SignalName,
  type TerminalSize,
  advice,
  step,
} from '@litterbox/core/provider';
import { notRunning } from '@litterbox/sandbox-kit';
import { HeldProcess } from '../program/held-process.ts';
import { within } from '../loopback/within.ts';
import { encodePlan, type PlanEntry, planWords } from '../script/plan-entry.ts';

export interface PlaceProcessInput {
  /** For error details. */
  readonly provider: string;
  readonly host: Host;
  /** Directory of FIFOs on the host. */
  readonly io: string;
  /** The same directory as the sandbox sees it. */
  readonly inside: string;
  readonly spec: ProcessSpec & { readonly env: Readonly<Record<string, string>>; readonly cwd: string };
  /** Absolute path of the workspace inside, which is opened where an agent has closed it to itself. */
  readonly workspace?: string;
  /** Absolute path of the session program on the host; absent: shell text does what it does. */
  readonly program?: string;
  /** Whether the first process takes a plan; else it is a shell, and takes shell text. */
  readonly takesPlans: boolean;
  /** The place knows by itself what to start. */
  readonly isKnown?: boolean;
  /** First bytes of its input, which do not wait for its start. */
  readonly given?: Uint8Array;
  /** Names in the environment of the sandbox's first process. */
  readonly inherited: readonly string[];
  /** Aborted when the session ends. */
  readonly lost: AbortSignal;
  /** Has somebody make the pipes and ask for the process; resolves with `asked` or with why not. Absent where {@link program} or a shell does that. */
  readonly ask?: (id: string, words: readonly string[]) => Promise<string>;
  readonly onEnd: (process: PlaceProcess) => void;
}

/** Address space of the host's half of a process, in KiB: many times what a shell and its tools take. */
const STARTER_KIB = 256 * 1024;

/**
 * The host's half of one process: makes its FIFOs and its command file, asks the sandbox's first process for it, and becomes
 * its stdin, stdout and stderr. Its first line tells how the start went, its exit code is the process's, and its death by a
 * signal means that the outcome is unknown. The directory cannot be written to from inside, so no name in it is an agent's.
 *
 * Nothing of it outlives the session: a session that ends says so first (`dying`) and then lets go of everybody who waits for a
 * pipe to be opened; what had not started by then says `ending`, and can be started in the next one. And so does the host's half for
 * its readers when the program ended before it opened its outputs.
 *
 * It runs outside of the sandbox's limits, and a program inside can write into the pipe of its own exit code: a line without an end fills the
 * memory that this shell may have, and no more.
 */
const STARTER_SCRIPT = `exec 5<&0 6>&2 2>/dev/null
ulimit -c 0; ulimit -v ${STARTER_KIB}
cd "$0" || exit 1
umask 022
mkfifo -m 666 $1.out $1.err $1.exit $1.in || { echo no-fifo; exit 1; }
[ ! -e ../dying ] || { rm -f $1.*; echo ending; exit 1; }
for rest in paused stopped; do [ ! -e ../$rest ] || { rm -f $1.*; echo $rest; exit 1; }; done
echo "run $1" 1<>control
exec 3<$1.exit
feed= begun=
while read -r word first second <&3; do
case $word in
started) begun=1
echo "started $first $second"
cat <$1.out 3<&- 5<&- 6>&- &
cat <$1.err >&6 3<&- 5<&- 6>&- &
if [ "$2" = pipe ]; then cat <&5 >$1.in 3<&- 6>&- & feed=$!; fi ;;
exit) [ -z "$feed" ] || kill $feed
true 1<>$1.out; true 1<>$1.err
rm -f $1.*
exit $first ;;
*) echo "$word"
rm -f $1.*
exit 1 ;;
esac
done
[ "$begun" ] || [ ! -e ../dying ] || { rm -f $1.*; echo ending; exit 1; }
[ -z "$feed" ] || kill $feed
true 1<>$1.out; true 1<>$1.err
rm -f $1.*
kill -9 $$`;

/** Longest plan that the session program is told; it takes 4 MiB. A longer one becomes a file first. */
const MAX_ASKED_CHARACTERS = 2 ** 20;
/** How long a process may take to be gone after it was killed, before the host lets go of its pipes all the same. */
const KILL_GRACE_MS = 3_000;
/** How long the first process of the sandbox may take to say how a start went: programs inside can stop it. By then it would start nothing any more. */
const START_MS = 60_000;

const REFUSALS: Readonly<Record<string, (spec: ProcessSpec, provider: string) => LitterboxError>> = {
  paused: (_spec, provider) => notRunning(provider, 'paused'),
  stopped: (_spec, provider) => notRunning(provider, 'stopped'),
  'no-cwd': ({ cwd }, provider) =>
    new LitterboxError(
      'NOT_FOUND',
      `There is no directory ${shown(cwd ?? '')} in the sandbox, or its user may not enter it.`,
      {
        operation: 'process.spawn',
        provider,
        hint: 'Name a directory that exists inside the sandbox.',
      },
    ),
  'no-program': ({ argv }, provider) =>
    new LitterboxError('NOT_FOUND', `There is no program ${shown(argv[0])} in the sandbox.`, {
      operation: 'process.spawn',
      provider,
      hint: advice`Name a program that is in the PATH of the sandbox; ${step('sandbox-explain')} lists where its programs come from.`,
    }),
  'no-terminal': (_spec, provider) =>
    new LitterboxError(
      'UNSUPPORTED',
      'The root file system of the sandbox has no script and stty, which give a program a terminal.',
      {
        operation: 'process.spawn',
        provider,
        hint: 'Install bsdutils and coreutils in it, or run the command without a terminal.',
      },
    ),
  'no-process': (_spec, provider) =>
    new LitterboxError('RESOURCE_EXHAUSTED', 'The sandbox has as many processes as it may have.', {
      operation: 'process.spawn',
      provider,
      hint: advice`End some of them, or all: ${step('sandbox-stop')}.`,
    }),
  deaf: (_spec, provider) =>
    new LitterboxError(
      'UNAVAILABLE',
      'The first process of the sandbox does not answer: something in it has stopped it.',
      {
        operation: 'process.spawn',
        provider,
        hint: advice`End all that runs in it: ${step('sandbox-stop')}, then ${step('sandbox-resume')}.`,
      },
    ),
  'no-fifo': (_spec, provider) =>
    new LitterboxError('RESOURCE_EXHAUSTED', 'The pipes of a process could not be made in the state directory.', {
      operation: 'process.spawn',
      provider,
      hint: 'Free some space or inodes there, then try again.',
    }),
};

/** One process of a running session. */
export class PlaceProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly resize?: (size: TerminalSize) => Promise<void>;
  readonly #input: PlaceProcessInput;
  readonly #starter: ProcessHandle;
  readonly #chunks: AsyncIterator<OutputChunk>;
  #firstChunk: OutputChunk | undefined;
  readonly #wrapperPid: number;
  readonly #pid: number;
  #hasEnded = false;
  #isKilled = false;

  private constructor(
    input: PlaceProcessInput,
    starter: ProcessHandle,
    chunks: AsyncIterator<OutputChunk>,
    start: StartReport,
    options?: CallOptions,
  ) {
    this.#input = input;
    this.#starter = starter;
    this.#chunks = chunks;
    this.#firstChunk = start.rest;
    this.#wrapperPid = start.wrapperPid;
    this.#pid = start.pid;
    this.exit = starter.exit.then((status) => {
      this.#hasEnded = true;
      input.onEnd(this);
      if (status.signal === undefined) return exitStatusOf(status.code);
      if (this.#isKilled) return { code: 137, signal: 'SIGKILL' };
      throw lostError(input.provider);
    });
    this.exit.catch(() => {}); // whoever asks is told; nobody has to ask
    const abort = () => void this[Symbol.asyncDispose]();
    options?.signal?.addEventListener('abort', abort, { once: true });
    void this.exit.catch(() => {}).finally(() => options?.signal?.removeEventListener('abort', abort));
    if (input.spec.terminal) this.resize = (size) => this.#resize(size);
  }

  static async start(input: PlaceProcessInput, options?: CallOptions): Promise<PlaceProcess> {
    const { spec } = input;
    const starter = await startHalf(input, crypto.randomUUID());
    const abort = () => void starter[Symbol.asyncDispose]();
    options?.signal?.addEventListener('abort', abort, { once: true });
    let isDeaf = false;
    const deafness = setTimeout(() => {
      isDeaf = true;
      abort();
    }, START_MS);
    if (input.given && input.given.length > 0) starter.write(input.given).catch(() => {}); // one that has ended says why
    try {
      options?.signal?.throwIfAborted();
      const chunks = starter[Symbol.asyncIterator]();
      const report = await firstLine(chunks);
      clearTimeout(deafness);
      if (report.word === 'ending') await ended(input.lost, options);
      const refusal = REFUSALS[isDeaf ? 'deaf' : report.word];
      if (refusal) throw refusal(spec, input.provider);
      if (report.word !== 'started') throw lostError(input.provider);
      return new PlaceProcess(input, starter, chunks, report, options);
    } catch (error) {
      await starter[Symbol.asyncDispose]();
      options?.signal?.throwIfAborted();
      throw input.lost.aborted ? lostError(input.provider) : error;
    } finally {
      clearTimeout(deafness);
      options?.signal?.removeEventListener('abort', abort);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    const first = this.#firstChunk;
    this.#firstChunk = undefined;
    if (first && first.bytes.length > 0) yield first;
    try {
      for (;;) {
        const next = await this.#chunks.next().catch((error: unknown) => {
          if (this.#input.lost.aborted) return { done: true as const, value: undefined }; // `exit` tells that it was lost
          throw error;
        });
        if (next.done) return;
        yield next.value;
      }
    } finally {
      void this.#chunks.return?.(); // not awaited: it queues behind a read that may never settle
    }
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#input.spec.stdin !== 'pipe' && !this.#input.spec.terminal) {
      throw new LitterboxError('INVALID_ARGUMENT', 'The process was started without stdin.', {
        operation: 'process.write',
        provider: this.#input.provider,
      });
    }
    return this.#starter.write(bytes);
  }

  closeStdin(): Promise<void> {
    return this.#starter.closeStdin();
  }

  async kill(signal: SignalName): Promise<void> {
    if (!this.#hasEnded) await this.#tell(`signal ${this.#pid} ${signal.slice(3)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded && !this.#input.lost.aborted) {
      this.#isKilled = true;
      await this.#tell(`kill ${this.#wrapperPid} ${this.#input.spec.env[CALL_VARIABLE] ?? ''}`).catch(() => {}); // the session is ending: so is the process
      await within(KILL_GRACE_MS, this.exit);
    }
    await this.#starter[Symbol.asyncDispose]();
  }

  async #tell(words: string): Promise<void> {
    await using teller = await this.#input.host.spawn({
      argv: ['sh', '-c', 'echo "$1" 1<>"$0/control"', this.#input.io, words],
    });
    await within(KILL_GRACE_MS, teller.exit); // programs inside can stop the first process and fill its pipe
  }

  /** The terminal is that of the child of `script`; the kernel tells the programs on it that its size changed. */
  async #resize({ columns, rows }: TerminalSize): Promise<void> {
    if (this.#hasEnded) return;
    const script = `for c in $(cat /proc/${this.#pid}/task/*/children); do stty rows ${rows} cols ${columns} </proc/$c/fd/0; done`;
    await using helper = await PlaceProcess.start({
      ...this.#input,
      spec: { argv: ['sh', '-c', script], env: this.#input.spec.env, cwd: '/' },
      onEnd: () => {},
    });
    await helper.exit;
  }
}

/** Starts the host's half of a process. What is to be started is in nobody's arguments, which every user of the machine reads. */
async function startHalf(input: PlaceProcessInput, id: string): Promise<ProcessHandle> {
  const { host, io, spec, program } = input;
  const plan = input.takesPlans && !input.isKnown ? processPlan(input) : undefined;
  const words = input.isKnown ? [] : plan ? planWords(plan) : [commandFile(input, id)];
  const text = words.join(' ');
  const isHeld = input.ask !== undefined && host.pipes !== undefined;
  const isInline = (isHeld || program !== undefined) && text.length <= MAX_ASKED_CHARACTERS;
  const bytes = () => (plan ? encodePlan(plan) : encodeRaw(text));
  if (!isInline && text !== '') await host.files.write(`${io}/${id}.cmd`, bytes(), { mode: 0o644 });
  const hasStdin = spec.stdin === 'pipe' || spec.terminal !== undefined;
  if (isHeld) return await held(input, id, isInline ? words : [], hasStdin);
  const given = isInline ? bytes() : new Uint8Array();
  const stdin = hasStdin ? 'pipe' : 'none';
  const relay = program === undefined ? (['sh', '-c', STARTER_SCRIPT] as const) : ([program, 'relay'] as const);
  const argv = [...relay, io, id, stdin, ...(program === undefined ? [] : [`${given.length}`])] as const;
  const takesBytes = hasStdin || given.length > 0;
  const starter = await host.spawn({ argv, ...(takesBytes && { stdin: 'pipe' }) }, { signal: input.lost });
  if (given.length > 0) await starter.write(given).catch(() => {}); // one that has ended says why
  if (takesBytes && !hasStdin) await starter.closeStdin();
  return starter;
}

/** This process opens the pipes. */
async function held(
  input: PlaceProcessInput,
  id: string,
  words: readonly string[],
  hasStdin: boolean,
): Promise<ProcessHandle> {
  const { ask, host, io, lost } = input;
  if (!ask || !host.pipes) throw new Error('nobody asks for it'); // which the caller has looked up
  const word = await ask(id, words);
  if (word !== 'asked') return refusedProcess(word);
  const isEnding = async () => (await host.files.stat(`${io}/../dying`)) !== undefined;
  return await HeldProcess.open({ host, pipes: host.pipes, place: `${io}/${id}`, hasStdin, lost, isEnding });
}

/** A process that says a word and has ended. */
function refusedProcess(word: string): ProcessHandle {
  return {
    exit: Promise.resolve({ code: 1 }),
    async *[Symbol.asyncIterator]() {
      yield { type: 'stdout-data', bytes: encodeRaw(`${word}\n`) };
    },
    write: async () => {},
    closeStdin: async () => {},
    kill: async () => {},
    async [Symbol.asyncDispose]() {},
  };
}

/** The session says that it ends: it is over in a moment, and then another one can be started. */
async function ended(lost: AbortSignal, options?: CallOptions): Promise<void> {
  const either = AbortSignal.any([lost, ...(options?.signal ? [options.signal] : [])]);
  if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
}

interface StartReport {
  readonly word: string;
  readonly wrapperPid: number;
  readonly pid: number;
  /** Output that came with the line. */
  readonly rest: OutputChunk | undefined;
}

/** No first line of ours is longer. */
const MAX_REPORT_BYTES = 64 * 2 ** 10;

async function firstLine(chunks: AsyncIterator<OutputChunk>): Promise<StartReport> {
  let seen = new Uint8Array();
  for (;;) {
    const next = await chunks.next();
    if (next.done || seen.length > MAX_REPORT_BYTES) return { word: 'lost', wrapperPid: 0, pid: 0, rest: undefined };
    if (next.value.type === 'stderr-data') continue; // the starter is silent there until it has started
    const joined = new Uint8Array(seen.length + next.value.bytes.length);
    joined.set(seen);
    joined.set(next.value.bytes, seen.length);
    seen = joined;
    const end = seen.indexOf(0x0a);
    if (end === -1) continue;
    const [word = '', wrapper = '', pid = ''] = decodeRaw(seen.subarray(0, end)).split(' ');
    return {
      word,
      wrapperPid: Number(wrapper),
      pid: Number(pid),
      rest: { type: 'stdout-data', bytes: seen.subarray(end + 1) },
    };
  }
}

/**
 * Says which process it is, opens the pipes and becomes the program. By then no signal is ignored any more that a shell made its
 * background jobs deaf to: one that is sent as soon as the program is known to have started is not lost.
 */
const REPORT_AND_BECOME = `read -r pid rest </proc/self/stat
echo "started $0 $pid" >&9
exec <"$1" >"$2" 2>"$3" 9>&-
shift 3
exec "$@"`;

const inTerminal = ({ columns, rows }: TerminalSize, command: string) =>
  ['script', '-qefc', `stty rows ${rows} cols ${columns}; exec ${command}`, '/dev/null'] as const;

/** The sandbox's half: what the session program does for a process, as its first process. */
function processPlan({ spec, inherited, workspace }: PlaceProcessInput): readonly PlanEntry[] {
  const { argv, cwd, env, terminal, stdin } = spec;
  return [
    ['unset', 'OLDPWD', ...inherited.filter((name) => !(name in env))],
    ['environment', ...Object.entries(env).flat()],
    ['directory', cwd, ...(cwd === workspace ? ['workspace'] : [])],
    ['needs', 'no-program', argv[0]],
    ...(terminal ? ([['needs', 'no-terminal', 'script', 'stty'], ['terminal']] as const) : []),
    ...(stdin === 'pipe' || terminal ? ([['stdin']] as const) : []),
    ['run', ...(terminal ? inTerminal(terminal, argv.map(quoted).join(' ')) : argv)],
    ['go'],
  ];
}

/** The same as shell text: read by a first process that is a shell, in a subshell of its own. */
function commandFile({ inside, spec, inherited, workspace }: PlaceProcessInput, id: string): string {
  const { argv, cwd, env, terminal, stdin } = spec;
  const [program] = argv;
  const foreign = inherited.filter((name) => !(name in env));
  const command = argv.map(quoted).join(' ');
  const source = stdin === 'pipe' || terminal ? `${inside}/${id}.in` : '/dev/null';
  return `exec 9>${inside}/${id}.exit
${foreign.length > 0 ? `unset ${foreign.join(' ')}\n` : ''}${Object.entries(env)
  .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
  .join(
    '',
  )}cd ${quoted(cwd)} ${cwd === workspace ? `|| { chmod u+rwx ${quoted(cwd)} && cd ${quoted(cwd)}; } ` : ''}|| { echo no-cwd >&9; exit; }
unset OLDPWD
command -v ${quoted(program)} || { echo no-program >&9; exit; }
${terminal ? 'command -v script && command -v stty || { echo no-terminal >&9; exit; }\n' : ''}read -r lb_me lb_rest </proc/self/stat
( exec $lb_env ${terminal ? '' : '$lb_setsid '}sh -c ${quoted(REPORT_AND_BECOME)} $lb_me ${source} ${inside}/${id}.out ${inside}/${id}.err ${terminal ? inTerminal(terminal, command).map(quoted).join(' ') : command} )
echo "exit $?" >&9
`;
}

function lostError(provider: string): LitterboxError {
  return new LitterboxError('UNAVAILABLE', 'The session of the sandbox ended while a process was running in it.', {
    operation: 'process.spawn',
    provider,
    hint: 'Start it again. If it happens again, the memory limit may be too low.',
  });
}
