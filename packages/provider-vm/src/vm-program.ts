import {
  type CallOptions,
  decodeRaw,
  type Host,
  isLitterboxError,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  visibleName,
} from '@litterbox/core/provider';

/** What a program said, and how it ended. */
export interface ProgramAnswer {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** How a program is asked. */
export interface AskOptions extends CallOptions {
  /** @defaultValue 10,000 */
  readonly limitMs?: number;
  /** Lines that it prints while it works, on either stream. */
  readonly onLine?: (line: string) => void;
}

/** A list of machines is shorter, and so is one machine's configuration. */
const MAX_STDOUT_BYTES = 4 * 2 ** 20;
const MAX_STDERR_BYTES = 64 * 1024;
const LIMIT_MS = 10_000;
/** How long output may come after its program has ended. */
const LINGER_MS = 1_000;
/** Where Homebrew and MacPorts put programs; no directory that a repository or its tools can choose. */
const OF_PACKAGE_MANAGERS = '/opt/homebrew/bin:/opt/local/bin';
/** What a shell ends with when it finds no such program: POSIX, section 2.8.2 of the shell's language. */
const NOT_FOUND = 127;

/**
 * A program of this computer that keeps virtual machines. It is looked up where programs of ours are, then where Homebrew and MacPorts put theirs; the
 * variables by which it would take another directory (`LIMA_HOME`) are not handed on, because a repository may set them.
 */
export class VmProgram {
  readonly name: string;
  readonly #host: Host;

  /** @param host this computer */
  constructor(host: Host, name: string) {
    this.#host = host;
    this.name = name;
  }

  /**
   * Runs it to its end.
   *
   * @returns nothing where it is not installed
   * @throws LitterboxError `UNAVAILABLE` when it takes longer than it may; `RESOURCE_EXHAUSTED` when it says too much
   */
  async ask(args: readonly string[], options: AskOptions = {}): Promise<ProgramAnswer | undefined> {
    const { signal, limitMs = LIMIT_MS, onLine } = options;
    const over = AbortSignal.timeout(limitMs);
    const signals = signal ? AbortSignal.any([signal, over]) : over;
    try {
      await using program = await this.start(args, { signal: signals });
      return await this.#read(program, onLine);
    } catch (error) {
      signal?.throwIfAborted();
      if (over.aborted) throw this.#late(args, limitMs);
      if (isLitterboxError(error, 'TOOL_MISSING')) return undefined;
      throw error;
    }
  }

  /** Starts it and leaves it to the caller. */
  async start(args: readonly string[], options?: CallOptions, stdin: 'none' | 'pipe' = 'none'): Promise<ProcessHandle> {
    const system = this.#host.environment['SystemRoot'];
    const { platform } = await this.#host.facts(options);
    // Windows has no sh, and its own programs are in one place.
    if (platform === 'win32') {
      const env = { SystemRoot: system ?? 'C:\\Windows', WSL_UTF8: '1' };
      return await this.#host.spawn(
        { argv: [`${env.SystemRoot}\\System32\\${this.name}`, ...args], stdin, env },
        options,
      );
    }
    const script = `PATH=$PATH:${OF_PACKAGE_MANAGERS} WSL_UTF8=1; export PATH WSL_UTF8; exec "$@"`;
    return await this.#host.spawn({ argv: ['/bin/sh', '-c', script, 'sh', this.name, ...args], stdin }, options);
  }

  async #read(program: ProcessHandle, onLine: AskOptions['onLine']): Promise<ProgramAnswer | undefined> {
    const out: Uint8Array[] = [];
    let outBytes = 0;
    let stderr = '';
    let line = '';
    for await (const { type, bytes } of untilEnd(program)) {
      if (type === 'stdout-data') {
        out.push(bytes);
        outBytes += bytes.length;
      } else stderr = (stderr + decodeRaw(bytes)).slice(-MAX_STDERR_BYTES);
      if (outBytes > MAX_STDOUT_BYTES) throw this.#talkative();
      if (!onLine) continue;
      const lines = (line + new TextDecoder().decode(bytes)).split('\n');
      line = (lines.pop() ?? '').slice(-MAX_STDERR_BYTES);
      for (const one of lines) if (one.trim() !== '') onLine(visibleName(one.trim()));
    }
    const { code } = await program.exit;
    if (code === NOT_FOUND && outBytes === 0) return undefined;
    return { code, stdout: Buffer.concat(out), stderr };
  }

  #late(args: readonly string[], limitMs: number): LitterboxError {
    return new LitterboxError(
      'UNAVAILABLE',
      `${this.name} ${args[0] ?? ''} did not end within ${limitMs / 1000} seconds.`,
      { operation: 'host.list', hint: `Run it by hand, and see what it waits for: ${this.name} ${args.join(' ')}.` },
    );
  }

  #talkative(): LitterboxError {
    return new LitterboxError('RESOURCE_EXHAUSTED', `${this.name} prints more than a list of machines has.`, {
      operation: 'host.list',
      hint: `Run it by hand, and see what it prints.`,
    });
  }
}

/** What a machine needs in the background may hold the pipes of who started it for as long as it is up. */
async function* untilEnd(program: ProcessHandle): AsyncGenerator<OutputChunk, void, undefined> {
  const output = program[Symbol.asyncIterator]();
  const over = program.exit.then(
    // What has come by then is all; a program of ours that has nothing else to do does not stay for it.
    () => new Promise<undefined>((resolve) => void setTimeout(resolve, LINGER_MS, undefined).unref()),
    () => undefined,
  );
  try {
    for (;;) {
      const next = await Promise.race([output.next(), over]);
      if (!next || next.done) return;
      yield next.value;
    }
  } finally {
    // It may wait for output that never comes, until who started the program lets go of it.
    output.return?.().catch(() => {});
  }
}
