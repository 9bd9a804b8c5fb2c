import {
  type ByteStream,
  type CallOptions,
  isLitterboxError,
  LitterboxError,
  type NamespaceLoopback,
  type OpenPort,
  type ProcessHandle,
  type ProcessSpec,
  visibleName,
  advice,
  step,
} from '@litterbox/core/provider';
import { closeQuietly } from './close-quietly.ts';
import { CONNECT_PROGRAM, FETCH_PROGRAM, LISTEN_PROGRAM, MAX_CONNECTIONS } from './loopback-programs.ts';
import { firstLine } from './process-stream.ts';

/** No reason that a program of ours gives is longer. */
const MAX_REASON_CHARACTERS = 200;
const CONNECTION = /^[1-9][0-9]{0,14}$/;

/** What a loopback needs of the place in which its programs run. */
export interface ProgramLoopbackInput {
  /** The words that start a program in the network of the sandbox; none where every program is in it. */
  readonly enter: readonly string[];
  /** The network that it has to be, as `readlink /proc/self/ns/net` prints it. @defaultValue it can be no other */
  readonly identity?: string;
  readonly spawn: (spec: ProcessSpec, options?: CallOptions) => Promise<ProcessHandle>;
  /** A new absolute path for a Unix socket, below a directory that is this user's alone and goes with the way to that place. */
  readonly newSocketPath: () => Promise<string>;
}

/** The loopback of a network namespace, by programs in Perl that run in it: one for each connection. */
export class ProgramLoopback implements NamespaceLoopback {
  readonly #input: ProgramLoopbackInput;
  readonly #listeners = new Set<OpenPort>();
  #isDisposed = false;

  constructor(input: ProgramLoopbackInput) {
    this.#input = input;
  }

  async connect(port: number, options?: CallOptions): Promise<ByteStream> {
    options?.signal?.throwIfAborted();
    this.#assertOpen('host.connect');
    const process = await this.#enter('host.connect', CONNECT_PROGRAM, [String(port)], options);
    const { line, stream } = await firstLine(process);
    if (line === '+' && !options?.signal?.aborted) return stream;
    const { code } = await process.exit;
    await closeQuietly(process);
    options?.signal?.throwIfAborted();
    if (!line.startsWith('-')) throw cannotEnter('host.connect', code);
    const why = visibleName(line.slice(1), MAX_REASON_CHARACTERS);
    throw new LitterboxError('UNAVAILABLE', `Nothing answers on port ${port} in the sandbox (${why}).`, {
      operation: 'host.connect',
      hint: 'Start the program that listens there, on 127.0.0.1 or on every address.',
    });
  }

  async listen(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort> {
    options?.signal?.throwIfAborted();
    this.#assertOpen('host.listen');
    const path = await this.#input.newSocketPath();
    const process = await this.#enter('host.listen', LISTEN_PROGRAM, [String(port), path], options);
    const { line, stream } = await firstLine(process);
    if (line !== '+' || options?.signal?.aborted || this.#isDisposed) {
      const exit = line === '+' ? undefined : await process.exit;
      await closeQuietly(process);
      options?.signal?.throwIfAborted();
      this.#assertOpen('host.listen');
      throw line.startsWith('-')
        ? refused(port, visibleName(line.slice(1), MAX_REASON_CHARACTERS))
        : cannotEnter('host.listen', exit?.code ?? 0);
    }
    const opened = this.#open(process, stream, path, onConnection);
    this.#listeners.add(opened);
    void opened.ended.then(() => this.#listeners.delete(opened));
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([...this.#listeners].map((listener) => listener[Symbol.asyncDispose]()));
  }

  #open(process: ProcessHandle, told: ByteStream, path: string, onConnection: (stream: ByteStream) => void): OpenPort {
    const connections = new Set<ByteStream>();
    let isOpen = true;
    let taking = 0;
    const ended = (async () => {
      try {
        for await (const number of numbers(told)) {
          // The program there has half as many at once, and hears sooner than this one that a connection has ended.
          if (taking + connections.size >= 2 * MAX_CONNECTIONS) break;
          taking += 1;
          void this.#take(path, number, onConnection, connections, () => isOpen).finally(() => {
            taking -= 1;
          });
        }
      } catch {
        // The machine is lost, or the program was ended.
      }
      await closeQuietly(process);
    })();
    return {
      ended,
      [Symbol.asyncDispose]: async () => {
        isOpen = false;
        await closeQuietly(process);
        await Promise.all([...connections].map(closeQuietly));
        await ended;
      },
    };
  }

  async #take(
    path: string,
    number: string,
    onConnection: (stream: ByteStream) => void,
    connections: Set<ByteStream>,
    isOpen: () => boolean,
  ): Promise<void> {
    const fetch = (word: string) =>
      this.#input.spawn({ argv: ['perl', '-e', FETCH_PROGRAM, path, word], stdin: 'pipe' });
    try {
      const process = await fetch(number);
      const { line, stream } = await firstLine(process);
      if (line !== '+' || !isOpen()) return await closeQuietly(process);
      connections.add(stream);
      process.exit.then(
        () => connections.delete(stream),
        () => connections.delete(stream),
      );
      try {
        onConnection(stream);
      } catch {
        // Nobody there has it: whoever connected is to see that it was refused.
        await using refusal = await fetch(`-${number}`);
        await refusal.exit;
        await closeQuietly(stream);
      }
    } catch {
      // The machine is lost, and what listened is gone with it.
    }
  }

  async #enter(
    operation: 'host.connect' | 'host.listen',
    program: string,
    rest: readonly string[],
    options: CallOptions | undefined,
  ): Promise<ProcessHandle> {
    const { enter, identity = '' } = this.#input;
    const [first = 'perl', ...more] = [...enter, 'perl', '-e', program, identity, ...rest];
    try {
      return await this.#input.spawn({ argv: [first, ...more], stdin: 'pipe' }, options);
    } catch (error) {
      if (!isLitterboxError(error, 'TOOL_MISSING')) throw error;
      throw new LitterboxError(
        'UNAVAILABLE',
        `The network of the sandbox cannot be entered: ${first} is not installed there.`,
        {
          operation,
          hint: 'Install util-linux and perl on that machine.',
        },
      );
    }
  }

  #assertOpen(operation: string): void {
    if (this.#isDisposed) throw new LitterboxError('DISPOSED', 'The way into the sandbox was closed.', { operation });
  }
}

/** Numbers of connections, a line each. It ends with the first line that is none. */
async function* numbers({ readable }: ByteStream): AsyncGenerator<string, void, undefined> {
  const reader = readable.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      if (!CONNECTION.test(text.slice(0, end))) return;
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
    if (text.length > MAX_REASON_CHARACTERS) return;
  }
}

function refused(port: number, reason: string): LitterboxError {
  if (reason === 'EADDRINUSE')
    return new LitterboxError('PORT_TAKEN', `A program in the sandbox listens on port ${port}.`, {
      operation: 'host.listen',
      hint: 'End that program, or choose another number.',
    });
  return new LitterboxError('UNSUPPORTED', `Nothing can listen on port ${port} in the sandbox (${reason}).`, {
    operation: 'host.listen',
    hint: advice`Choose a number from 1024 on; if it happens again, run ${step('machine-check')}.`,
  });
}

function cannotEnter(operation: string, code: number): LitterboxError {
  const reason = code === 3 ? 'it is another one by now' : `exit code ${code}`;
  return new LitterboxError('UNAVAILABLE', `The network of the sandbox could not be entered: ${reason}.`, {
    operation,
    hint: 'Try again; if it happens again, check whether nsenter (util-linux) and perl are installed there.',
  });
}
