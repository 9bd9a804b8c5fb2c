import {
  CALL_VARIABLE,
  type Assurance,
  missingControls,
  LitterboxError,
  failpoint,
  decodeRaw,
  encodeRaw,
  shown,
  type CallOptions,
  type Host,
  type NetworkNamespace,
  type ProcessHandle,
  type ProcessSpec,
  INSIDE,
  advice,
  step,
} from '@litterbox/core/provider';
import { type KernelFacts, networkOf, parseFacts } from '../kernel/kernel-facts.ts';
import { notRunning } from '@litterbox/sandbox-kit';
import { type KeptFacts, parseKeptFacts } from './kept-facts.ts';
import type { PlaceFiles } from './place-files.ts';
import { PlaceProcess, type PlaceProcessInput } from './place-process.ts';
import { encodePlan } from '../script/plan-entry.ts';
import { ServedProgram } from '../program/served-program.ts';
import { lineOf, Talk } from '../program/talk.ts';

/** How the supervisor of a session is started, and what its facts are held against. */
export interface Launch {
  /** Run by a shell of the host; its first argument is the text of the supervisor, as `placeScript` makes it. */
  readonly argv: readonly [string, ...string[]];
  /** The bytes that it reads from stdin before anything else. */
  readonly given?: Uint8Array;
  /** Whether a link of the session program starts the session too, by {@link Launch.given}; else {@link Launch.argv} does. @defaultValue false */
  readonly isByLink?: boolean;
  /** What the host's own namespaces are called, by {@link HOST_NAMESPACES_SCRIPT}. */
  readonly namespaces: string;
  /** Whether the session begins with a change scanner of its own. @defaultValue false */
  readonly hasScanner?: boolean;
  /** Whether the first process of the sandbox is told of each process by a plan. @defaultValue false */
  readonly takesPlans?: boolean;
  judge(facts: KernelFacts): Assurance;
}

/** What a session of a sandbox needs to know. */
export interface SessionInput {
  readonly provider: string;
  readonly host: Host;
  readonly files: PlaceFiles;
  readonly workdir: string;
  /** The environment of processes inside. */
  readonly environment: Readonly<Record<string, string>>;
  /** A person accepted missing controls for this sandbox. */
  readonly allowDegraded: boolean;
  /** Whether the network inside can be entered by who runs programs on the host; else from the supervisor's user namespace. */
  readonly isRoot: boolean;
  /** Whether the supervisor starts a place of its own for the change scanner, beside the sandbox; else it looks from inside. */
  readonly hasScannerPlace: boolean;
  /** Absolute path of the session program on the host; absent: shell text does what it does. */
  readonly program?: string;
  /** The session program that has made the sandbox and may be the link now; absent, undefined or taken: another is started. */
  served?(): ServedProgram | undefined;
  /**
   * Asked before every start of a session: what is there on the host may have changed since the last one.
   *
   * @param served what can look at the host. Where a session lives already it looks at nothing.
   */
  launch(options?: CallOptions, served?: ServedProgram): Promise<Launch>;
}

/** What a session is wanted for. One for a program is not started in a sandbox that is paused or stopped. */
export type SessionPurpose = 'program' | 'facts';

/**
 * Holds the sandbox's clients lock shared while its stdin is open: when this process is killed, the kernel closes that. Its first line says
 * how the sandbox is: `alive` and what is known of its session, `none` when a session has to be started, or, for who is going to start a
 * program, the mark that forbids one. Who starts a session holds `start.lock` until it runs, and has written down by then what is known of it.
 */
const LINK_SCRIPT = `cd "$0" && exec 9<>clients.lock && flock -s 9 && exec 7>>start.lock || exit 1
flock -w 60 7 || { echo busy; exit; }
exec 6>>alive.lock
if [ ! -e dying ] && ! flock -n -s 6; then
IFS= read -r kept <session.json
printf 'alive %s\\n' "$kept"
elif [ "$1" = program ] && [ -e paused ]; then echo paused; exit
elif [ "$1" = program ] && [ -e stopped ]; then echo stopped; exit
else echo none; fi
exec 6>&- 7>&-
read -r word
( exec 9<&- 0</dev/null; flock -s alive.lock true; echo gone ) &
exec cat >/dev/null`;

/**
 * This process's part in a sandbox's running session: namespaces, overlay and first process, shared by all clients and ended
 * with the last of them. Whoever comes first starts it.
 */
export class Session implements AsyncDisposable {
  readonly assurance: Assurance;
  readonly network: NetworkNamespace;
  readonly #hasScanner: boolean;
  readonly #takesPlans: boolean;
  readonly #input: SessionInput;
  readonly #link: ProcessHandle;
  readonly #processes = new Set<PlaceProcess>();
  /** Aborted when the session has ended: whatever waits for it on the host is ended too. */
  readonly #lost = new AbortController();
  readonly #pump: Promise<void>;
  /** Questions that the link has not answered, by the id of the process. */
  readonly #asked = new Map<string, (word: string) => void>();
  readonly #canAsk: boolean;

  private constructor(input: SessionInput, { handle, talk, isProgram }: Link, facts: KeptFacts) {
    this.#input = input;
    this.#link = handle;
    this.#canAsk = isProgram;
    this.assurance = facts.assurance;
    this.network = facts.network;
    this.#hasScanner = facts.hasScanner === true;
    this.#takesPlans = facts.takesPlans === true;
    this.#pump = this.#watch(talk);
  }

  /**
   * @throws LitterboxError `DEGRADED` when a control is missing and nobody allowed that; `UNAVAILABLE` when it cannot start;
   *   `SANDBOX_PAUSED`, `SANDBOX_STOPPED` when a program is to start in a sandbox at rest that has no session.
   */
  static async attach(input: SessionInput, purpose: SessionPurpose, options?: CallOptions): Promise<Session> {
    const beginning = await beginLink(input, purpose);
    // A start needs to know these things of the machine: they are asked meanwhile, so that one does not wait for the other.
    const launching = input.launch(options, beginning.served);
    launching.catch(() => {}); // of no interest where a session lives
    try {
      const [state = '', kept] = /^(\S*)(?: (.*))?$/s.exec(await beginning.line)?.slice(1) ?? [];
      assertLinked(input, state);
      failpoint('session.after-link');
      const launched = state === 'alive' ? undefined : await launching;
      const link = await beginning.take();
      if (!link) throw notLinked(input);
      const facts = launched ? await launch(input, launched, link, options) : keptFactsOf(input, kept);
      await link.handle.write(link.isProgram ? encodePlan([['watch'], ['go']]) : encodeRaw('watch\n'));
      return new Session(input, link, facts);
    } catch (error) {
      await beginning.end();
      throw error;
    }
  }

  get isAlive(): boolean {
    return !this.#lost.signal.aborted;
  }

  /** Resolves when it has ended, or this process has left it. */
  get ended(): Promise<void> {
    return this.#pump;
  }

  /** Starts a program in the sandbox, or in the namespace of its change scanner. */
  async spawn(where: 'sandbox' | 'scanner', spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    const { environment, workdir, hasScannerPlace } = this.#input;
    const base = where === 'sandbox' ? environment : { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
    const isInside = where === 'sandbox' || !hasScannerPlace;
    return await this.#start(
      isInside ? 'io' : 'scan-io',
      {
        spec: {
          cwd: where === 'sandbox' ? workdir : '/',
          ...spec,
          env: { [CALL_VARIABLE]: crypto.randomUUID(), ...(spec.env ?? base) },
        },
        ...(where === 'sandbox' && { workspace: workdir }),
        inherited: Object.keys(isInside ? environment : base),
      },
      options,
    );
  }

  /** What answers the requests of `SessionScanner`; undefined where the session has no scanner of its own. */
  async startScanner(given: Uint8Array, options?: CallOptions): Promise<ProcessHandle | undefined> {
    if (!this.#hasScanner) return undefined;
    const spec = { argv: ['scanner'], cwd: '/', env: {}, stdin: 'pipe' } as const;
    return await this.#start('scan-io', { spec, inherited: [], isKnown: true, given }, options);
  }

  async #start(
    io: 'io' | 'scan-io',
    input: Pick<PlaceProcessInput, 'spec' | 'workspace' | 'inherited' | 'isKnown' | 'given'>,
    options?: CallOptions,
  ): Promise<PlaceProcess> {
    const { provider, host, files, program } = this.#input;
    const started = await PlaceProcess.start(
      {
        provider,
        host,
        io: `${files.directory}/${io}`,
        inside: INSIDE.io,
        ...input,
        // A session of an earlier release has a shell there.
        ...(program !== undefined && (io === 'scan-io' || this.#takesPlans) && { program }),
        takesPlans: this.#takesPlans,
        ...(this.#canAsk && (io === 'scan-io' || this.#takesPlans) && { ask: (id, words) => this.#ask(io, id, words) }),
        lost: this.#lost.signal,
        onEnd: (process) => this.#processes.delete(process),
      },
      options,
    );
    this.#processes.add(started);
    return started;
  }

  /** Has the link make the pipes of a process and ask for it. Resolves with `asked`, or with why not. */
  async #ask(io: 'io' | 'scan-io', id: string, words: readonly string[]): Promise<string> {
    if (this.#lost.signal.aborted) return 'lost';
    const answered = new Promise<string>((resolve) => this.#asked.set(id, resolve));
    await this.#link.write(encodePlan([['ask', io, id, ...words], ['go']]));
    return await answered;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The processes first, while there is a session to end them in; then the lock: without other clients the session ends.
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
    await this.#link[Symbol.asyncDispose]();
    await this.#pump;
  }

  async #watch(talk: Talk): Promise<void> {
    for (;;) {
      const line = await talk.next(lineOf).catch(() => undefined);
      const [word = '', id = ''] = line?.text.trimEnd().split(' ') ?? [];
      const answer = this.#asked.get(id);
      if (!answer) break; // `gone`, or the link itself ended
      this.#asked.delete(id);
      answer(word);
    }
    this.#lost.abort();
    for (const answer of this.#asked.values()) answer('lost');
  }
}

/** An agent has closed the workspace to itself. The supervisor has opened it by now. */
class ClosedWorkspace extends LitterboxError {}

/** The program that holds this client's lock on the session, and its messages. */
interface Link {
  readonly handle: ProcessHandle;
  readonly talk: Talk;
  /** It is the session program, and takes plans. */
  readonly isProgram: boolean;
}

/** A link on its way. */
interface LinkBeginning {
  /** Tells how the sandbox is; empty where no link could be made. */
  readonly line: Promise<string>;
  /** What can look at the machine behind the link. */
  readonly served?: ServedProgram;
  take(): Promise<Link | undefined>;
  end(): Promise<void>;
}

async function beginLink(input: SessionInput, purpose: SessionPurpose): Promise<LinkBeginning> {
  const { program, host } = input;
  const { directory } = input.files;
  if (program === undefined) {
    const handle = await host.spawn({ argv: ['sh', '-c', LINK_SCRIPT, directory, purpose], stdin: 'pipe' });
    const talk = new Talk(handle);
    return {
      line: talk.next(lineOf).then(({ text }) => text.trimEnd()),
      take: async () => ({ handle, talk, isProgram: false }),
      end: async () => await handle[Symbol.asyncDispose](),
    };
  }
  const first = input.served?.();
  const served = first && !first.isOver ? first : new ServedProgram(host, program);
  let taken: Link | undefined;
  return {
    line: served.link(directory, purpose),
    served,
    take: async () => {
      const own = await served.take();
      taken = own && { ...own, isProgram: true };
      return taken;
    },
    end: async () => {
      await taken?.handle[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

/** As {@link launchBy}, and once more where the workspace was closed. */
async function launch(input: SessionInput, launched: Launch, link: Link, options?: CallOptions): Promise<KeptFacts> {
  const once = async () =>
    link.isProgram && launched.isByLink
      ? await launchBy(link, input, launched, options)
      : await launchBeside(input, launched, options);
  try {
    return await once();
  } catch (error) {
    if (error instanceof ClosedWorkspace) return await once();
    throw error;
  }
}

/** Starts the session by a program of its own, which ends when it runs. */
async function launchBeside(input: SessionInput, launched: Launch, options?: CallOptions): Promise<KeptFacts> {
  const handle = await input.host.spawn({ argv: launched.argv, stdin: 'pipe' });
  try {
    const facts = await launchBy({ handle, talk: new Talk(handle) }, input, launched, options);
    void handle[Symbol.asyncDispose](); // the launcher alone, which ends by itself
    return facts;
  } catch (error) {
    await handle.closeStdin();
    await handle[Symbol.asyncDispose]();
    throw error;
  }
}

/** Starts the supervisor unless one lives, judges what the kernel says, and lets the session go or ends it. */
async function launchBy(
  { handle, talk }: Pick<Link, 'handle' | 'talk'>,
  input: SessionInput,
  { given, namespaces, hasScanner, takesPlans, judge }: Launch,
  options?: CallOptions,
): Promise<KeptFacts> {
  const { host, files } = input;
  const abort = () => void handle.closeStdin(); // the supervisor then ends what it started
  options?.signal?.addEventListener('abort', abort, { once: true });
  try {
    if (given !== undefined) await handle.write(given).catch(() => {}); // one that has ended by then says why by itself
    const { words, said } = await hear(talk);
    options?.signal?.throwIfAborted();
    if (words[0] === 'alive') return await readKeptFacts(input);
    if (words[0] !== 'facts') {
      const reason = words[0]?.replace(/^error /, '') ?? (said === '' ? 'the supervisor said nothing' : said);
      const Failure = /Can't chdir to/.test(reason) ? ClosedWorkspace : LitterboxError;
      throw new Failure(
        /No space left on device/.test(reason) ? 'DISK_FULL' : 'UNAVAILABLE',
        `The sandbox could not be started: ${shown(reason.trim())}.`,
        {
          operation: 'provider.start',
          provider: input.provider,
          hint: advice`Run ${step('machine-check')} to see what is missing on this machine.`,
        },
      );
    }
    const assurance = judge(parseFacts(words, namespaces));
    const missing = missingControls(assurance);
    if (missing.length > 0 && !input.allowDegraded) {
      throw new LitterboxError(
        'DEGRADED',
        `The sandbox would run without: ${missing.map(({ name, finding }) => `${name} (${finding})`).join('; ')}.`,
        {
          operation: 'provider.start',
          provider: input.provider,
          hint: `${missing[0]?.remedy ?? ''} To go on without it: --allow-degraded.`,
          facts: { missing: missing.map(({ name }) => name) },
        },
      );
    }
    failpoint('session.before-go');
    const kept = JSON.stringify({
      assurance,
      network: networkOf(words, input.isRoot),
      ...(hasScanner && { hasScanner }),
      ...(takesPlans && { takesPlans }),
    } satisfies KeptFacts);
    const facts = keptFactsOf(input, kept); // what the machine says is held to the same as what it keeps
    await handle.write(encodeRaw(`go ${kept}\n`));
    const answer = await hear(talk);
    failpoint('session.after-go');
    if (answer.words[0] === 'running') return facts;
    if (answer.words[0] === 'unwritable') await host.files.write(files.session, encodeRaw(kept)); // says why it cannot be written
    throw new LitterboxError('UNAVAILABLE', `The session of the sandbox did not start: ${shown(answer.said.trim())}.`, {
      operation: 'provider.start',
      provider: input.provider,
      hint: advice`Try again; if it happens again, run ${step('machine-check')}.`,
    });
  } finally {
    options?.signal?.removeEventListener('abort', abort);
  }
}

/** One message of the supervisor: words that end with a NUL each. */
async function hear(talk: Talk): Promise<{ readonly words: readonly string[]; readonly said: string }> {
  const { text } = await talk.next((output) => {
    const isWhole = output.startsWith('facts\0') ? output.endsWith('\0end\0') : output.endsWith('\0');
    return isWhole ? output.length : 0;
  });
  return { words: text.split('\0').slice(0, -1), said: talk.complaint };
}

/** Of a session that another program has started since this one looked. */
async function readKeptFacts(input: SessionInput): Promise<KeptFacts> {
  const bytes = await input.host.files.read(input.files.session);
  return keptFactsOf(input, bytes && decodeRaw(bytes));
}

function keptFactsOf({ provider, host }: SessionInput, text = ''): KeptFacts {
  const refused = (what: string) =>
    new LitterboxError('SANDBOX_BROKEN', `The running session of the sandbox on ${host.name} left ${what}.`, {
      operation: 'provider.open',
      provider,
      hint: advice`Stop it and start it again: ${step('sandbox-stop')}, then ${step('sandbox-resume')}.`,
    });
  if (text === '') throw refused('no record of its controls');
  try {
    return parseKeptFacts(text, provider);
  } catch (cause) {
    throw refused(`a record of its controls that cannot be read: ${shown((cause as Error).message)}`);
  }
}

/** @param state what the link said first; nothing where it could not be made */
function assertLinked({ provider }: SessionInput, state: string): void {
  if (state === 'alive' || state === 'none') return;
  if (state === 'paused' || state === 'stopped') throw notRunning(provider, state);
  if (state === 'busy')
    throw new LitterboxError('UNAVAILABLE', 'Another process has been starting this sandbox for a minute.', {
      operation: 'provider.open',
      provider,
      hint: advice`Try again; if it happens again, run ${step('machine-check')}.`,
    });
  throw notLinked({ provider });
}

function notLinked({ provider }: Pick<SessionInput, 'provider'>): LitterboxError {
  return new LitterboxError('NOT_FOUND', 'The directory of the sandbox is gone.', {
    operation: 'provider.open',
    provider,
    hint: advice`Run ${step('sandbox-recover')}.`,
  });
}
