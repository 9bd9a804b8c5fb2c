import {
  decodeRaw,
  encodeRaw,
  type ExitStatus,
  type Host,
  type HostPipes,
  interleaved,
  type OutputChunk,
  type OutputSource,
  type PipeWriter,
  type ProcessHandle,
  type SignalName,
} from '@litterbox/core/provider';

/** How a process of a session is known outside. */
export interface HeldPlace {
  readonly host: Host;
  readonly pipes: HostPipes;
  /** Absolute path of its files up to the dot. */
  readonly place: string;
  readonly hasStdin: boolean;
  /** Aborted when the session has ended. */
  readonly lost: AbortSignal;
  /** Whether the session says that it ends. */
  isEnding(): Promise<boolean>;
}

/** No line of the process that says how it went is longer; what is longer an agent wrote. */
const MAX_LINE_CHARACTERS = 4096;
/** Words by which the place itself says that it starts nothing. All others are those of a program that found the pipe. */
const REFUSALS = new Set(['no-cwd', 'no-program', 'no-terminal', 'no-fifo', 'no-process']);
const SUFFIXES = ['in', 'out', 'err', 'exit', 'cmd'];
/** How often a pipe that nobody reads yet is tried: at once, then each millisecond, then now and then. */
const IMPATIENT_TRIES = 50;
const NEXT_WAIT_MS = 1;
const LAST_WAIT_MS = 20;

/**
 * The host's half of a process whose pipes are made and that was asked for, as the session program's `relay` is it, without a program: this process
 * opens the pipes. Its output begins with a line that says how the start went.
 */
export class HeldProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly #of: HeldPlace;
  readonly #ends: OutputSource & { destroy(): unknown };
  /** The line by which the output begins. */
  readonly #report = Promise.withResolvers<string>();
  readonly #ended = Promise.withResolvers<ExitStatus>();
  readonly #input = Promise.withResolvers<PipeWriter | undefined>();
  #outputs: Promise<readonly (OutputSource & { destroy(): unknown })[]> = Promise.resolve([]);
  #unread = '';
  #hasBegun = false;
  /** Settles when its files are gone. */
  #over: Promise<void> | undefined;

  private constructor(of: HeldPlace, ends: OutputSource & { destroy(): unknown }) {
    this.#of = of;
    this.#ends = ends;
    this.exit = this.#ended.promise;
    const lose = () => void this.#lose();
    of.lost.addEventListener('abort', lose, { once: true });
    void this.exit.then(() => of.lost.removeEventListener('abort', lose));
    ends.on('data', (bytes) => this.#hear(decodeRaw(bytes)));
    ends.once('close', lose);
    if (ends.closed || of.lost.aborted) lose();
  }

  static async open(of: HeldPlace): Promise<HeldProcess> {
    const held = new HeldProcess(of, await of.pipes.read(`${of.place}.exit`));
    // A session that ends lets go of whoever has the pipe by then: of who comes later it is known by its mark, which was there first.
    if (await of.isEnding()) await held.#lose();
    return held;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    yield { type: 'stdout-data', bytes: encodeRaw(await this.#report.promise) };
    const [stdout, stderr] = await this.#outputs;
    if (!stdout || !stderr) return;
    const leave = () => {
      stdout.destroy();
      stderr.destroy();
    };
    yield* interleaved(stdout, stderr, { endsBy: 'close', leave });
  }

  async write(bytes: Uint8Array): Promise<void> {
    await (await this.#input.promise)?.write(bytes);
  }

  async closeStdin(): Promise<void> {
    (await this.#input.promise)?.end();
  }

  /** This half of a process has no signals: the place inside sends them. */
  async kill(_signal: SignalName): Promise<void> {
    await this.#lose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lose();
    await this.exit;
    for (const output of await this.#outputs) output.destroy();
  }

  /** Lines from inside, where anything may have been written. */
  #hear(text: string): void {
    this.#unread += text;
    for (let end = this.#unread.indexOf('\n'); end !== -1 && !this.#over; end = this.#unread.indexOf('\n')) {
      const line = this.#unread.slice(0, end);
      this.#unread = this.#unread.slice(end + 1);
      this.#obey(line);
    }
    if (this.#unread.length >= MAX_LINE_CHARACTERS) void this.#lose();
  }

  #obey(line: string): void {
    const [word = '', ...rest] = line.split(' ');
    if (word === 'exit') void this.#end({ code: Number.parseInt(rest[0] ?? '', 10) & 0xff });
    else if (!this.#hasBegun && word === 'started') this.#begin(rest.join(' '));
    else if (!this.#hasBegun) void this.#end({ code: 1 }, REFUSALS.has(word) ? word : 'lost');
    // else a program's own words into a pipe of ours
  }

  #begin(which: string): void {
    this.#hasBegun = true;
    const { pipes, place, hasStdin } = this.#of;
    this.#outputs = Promise.all([pipes.read(`${place}.out`), pipes.read(`${place}.err`)]);
    this.#outputs.catch(() => {}); // whoever reads is told
    if (hasStdin) void this.#openInput();
    else this.#input.resolve(undefined);
    this.#report.resolve(`started ${which}\n`);
  }

  /** The program opens its stdin a moment after it was said to have started. */
  async #openInput(): Promise<void> {
    for (let tries = 0; !this.#over; tries++) {
      const writer = await this.#of.pipes.write(`${this.#of.place}.in`).catch(() => null);
      if (writer === null) {
        void this.#lose(); // who waits for input would wait forever; nothing where it has ended
        break;
      }
      if (writer) {
        if (this.#over) writer.destroy();
        this.#input.resolve(writer);
        return;
      }
      const waitMs = tries < IMPATIENT_TRIES ? 0 : tries < 2 * IMPATIENT_TRIES ? NEXT_WAIT_MS : LAST_WAIT_MS;
      await new Promise((resolve) => (waitMs === 0 ? setImmediate(resolve) : setTimeout(resolve, waitMs)));
    }
    this.#input.resolve(undefined);
  }

  /** The session has ended, or somebody has ended the process that would have said how this one ended. */
  async #lose(): Promise<void> {
    if (this.#over) return await this.#over;
    const isEnding = !this.#hasBegun && (await this.#of.isEnding().catch(() => false));
    await this.#end({ code: 137, signal: 'SIGKILL' }, isEnding ? 'ending' : 'lost');
  }

  async #end(status: ExitStatus, word = 'lost'): Promise<void> {
    this.#over ??= this.#clear(status, word);
    await this.#over;
  }

  async #clear(status: ExitStatus, word: string): Promise<void> {
    const { host, pipes, place } = this.#of;
    this.#ends.destroy();
    await this.#outputs.catch(() => {});
    // One that nobody has opened for writing never ends by itself.
    await Promise.allSettled(['out', 'err'].map((suffix) => pipes.release(`${place}.${suffix}`)));
    await Promise.allSettled(SUFFIXES.map((suffix) => host.files.remove(`${place}.${suffix}`)));
    this.#input.resolve(undefined);
    void this.#input.promise.then((writer) => writer?.destroy());
    this.#report.resolve(`${word}\n`);
    this.#ended.resolve(status);
  }
}
