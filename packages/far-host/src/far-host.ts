import {
  type ByteStream,
  type CallOptions,
  type Host,
  type HostFacts,
  type HostFiles,
  joinBytes,
  LitterboxError,
  type LitterboxErrorCode,
  type NamespaceLoopback,
  type NetworkNamespace,
  type ProcessHandle,
  type ProcessSpec,
  quoted,
  shown,
  type SocketAddress,
} from '@litterbox/core/provider';
import { type FileShellAnswer, type FileShellOptions, ProgramLoopback, ShellFiles } from '@litterbox/linux-sandbox';
import { FACTS_SCRIPT, type FarFacts, parseFarFacts } from './far-facts.ts';
import { ShellConnection } from './shell-connection.ts';
import { FAR_PATIENCE, type ConnectionTimeouts } from './connection-timeouts.ts';
import type { FarProcess } from './far-process.ts';
import { FAR_PATH } from './far-path.ts';
import { begins, programBody } from './far-scripts.ts';
import type { ShellTransport } from './shell-transport.ts';

/** What {@link openFarHost} needs. */
export interface FarHostOptions {
  /** Name of the machine, for errors: `ssh://me@10.0.0.7:22`. */
  readonly name: string;
  /** Makes a way to the machine: once at the beginning, and again after one was lost. @throws LitterboxError */
  readonly connect: (options?: CallOptions) => Promise<ShellTransport>;
  /** @defaultValue {@link FAR_PATIENCE} */
  readonly patience?: ConnectionTimeouts;
  /**
   * Whether all shells may share one session, by a program in Perl there. Without one each has a session of its own, and its login shell reads its files
   * again.
   *
   * @defaultValue true, where the machine has Perl
   */
  readonly sharesSession?: boolean;
}

/** A machine that is reached by shells alone. */
export interface FarHost extends Host {
  /** Content of its `/etc/machine-id`, where it has one. */
  readonly machineId: string | undefined;
}

/** No answer of a machine about itself is larger. */
const MAX_FACTS_BYTES = 4 * 2 ** 20;
/** What tools may say on stderr, beside what is asked for. */
const MAX_SAID_BYTES = 4 * 2 ** 20;

/**
 * A machine behind a way to get a shell there. A program begins after one round trip, and a call of `files` takes one. What was started there ends
 * when the connection does: at once where the machine hears of it, after a minute where it does not. The next call connects anew.
 *
 * @throws LitterboxError what `connect` throws; `UNAVAILABLE` when no shell answers there
 */
export async function openFarHost(options: FarHostOptions, call?: CallOptions): Promise<FarHost> {
  const host = new ConnectedHost(options);
  try {
    await host.facts(call);
    return host;
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}

interface Connection extends FarFacts {
  readonly line: ShellConnection;
}

class ConnectedHost implements FarHost {
  readonly name: string;
  readonly files: HostFiles;
  readonly #connect: FarHostOptions['connect'];
  readonly #patience: ConnectionTimeouts;
  readonly #sharesSession: boolean;
  #connecting: Promise<Connection> | undefined;
  #connection: Connection | undefined;
  #transport: ShellTransport | undefined;
  #isDisposed = false;

  constructor({ name, connect, patience = FAR_PATIENCE, sharesSession = true }: FarHostOptions) {
    this.name = name;
    this.#connect = connect;
    this.#patience = patience;
    this.#sharesSession = sharesSession;
    this.files = new ShellFiles({
      run: async (script, words, options) => {
        const { line } = await this.#connected(options);
        return await this.#run(line, `set -- ${words.map(quoted).join(' ')}\n${script}`, options);
      },
    });
  }

  get environment(): Host['environment'] {
    return this.#connection?.environment ?? {};
  }

  get machineId(): string | undefined {
    return this.#connection?.machineId;
  }

  async facts(options?: CallOptions): Promise<HostFacts> {
    options?.signal?.throwIfAborted();
    return (this.#connection ?? (await this.#connected(options))).facts;
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    options?.signal?.throwIfAborted();
    if (spec.terminal) {
      throw new LitterboxError('UNSUPPORTED', 'A program of the host itself gets no terminal.', {
        operation: 'host.spawn',
      });
    }
    const { line, facts } = await this.#connected(options);
    const env = spec.env ?? { PATH: FAR_PATH, HOME: facts.homeDirectory, LANG: 'C.UTF-8' };
    return await this.#start(line, (nonce) => programBody({ ...spec, env }, nonce), {
      hasStdin: spec.stdin === 'pipe',
      signal: options?.signal,
      spec,
    });
  }

  async connect(address: SocketAddress, options?: CallOptions): Promise<ByteStream> {
    options?.signal?.throwIfAborted();
    await this.#connected(options);
    const transport = this.#transport;
    if (!transport?.connect) {
      throw new LitterboxError('UNSUPPORTED', `Sockets of ${this.name} cannot be reached.`, {
        operation: 'host.connect',
      });
    }
    return await transport.connect(address, options);
  }

  loopback({ path, identity, userNamespace }: NetworkNamespace): NamespaceLoopback {
    const user = userNamespace === undefined ? [] : [`--user=${userNamespace}`, '--preserve-credentials'];
    return new ProgramLoopback({
      enter: ['nsenter', ...user, `--net=${path}`, '--'],
      identity,
      spawn: (spec, options) => this.spawn(spec, options),
      newSocketPath: async () => `${(await this.#connected()).line.directory}/s-${crypto.randomUUID()}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#connecting?.catch(() => {}); // it becomes the connection, or closes itself
    await this.#connection?.line[Symbol.asyncDispose]();
  }

  async #connected(options?: CallOptions): Promise<Connection> {
    options?.signal?.throwIfAborted();
    if (this.#isDisposed) {
      throw new LitterboxError('DISPOSED', `The host ${this.name} was used after it was closed.`, {
        operation: 'host.connect',
      });
    }
    if (this.#connection && !this.#connection.line.loss) return this.#connection;
    this.#connecting ??= this.#open();
    try {
      return await this.#connecting;
    } finally {
      this.#connecting = undefined;
    }
  }

  async #open(): Promise<Connection> {
    const transport = await this.#connect();
    const line = await ShellConnection.open(this.name, transport, this.#patience, this.#sharesSession);
    try {
      const answer = await this.#run(line, FACTS_SCRIPT, { maxOutputBytes: MAX_FACTS_BYTES });
      const told = parseFarFacts(this.name, answer.stdout);
      this.#assertSame(told);
      this.#transport = transport;
      this.#connection = { ...told, line };
      return this.#connection;
    } catch (error) {
      await line[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A name may lead to another machine by now, whose sandboxes are not the ones that are known. */
  #assertSame({ machineId, facts }: FarFacts): void {
    const before = this.#connection;
    if (!before || (before.machineId === machineId && before.facts.uid === facts.uid)) return;
    throw new LitterboxError('REMOTE_STATE_LOST', `${this.name} is another machine, or another user, than before.`, {
      operation: 'host.connect',
      hint: 'Check where that name leads now. Its sandboxes are still on the machine that it led to.',
      facts: { machineId, uid: facts.uid, machineIdBefore: before.machineId, uidBefore: before.facts.uid },
    });
  }

  async #start(
    line: ShellConnection,
    body: (nonce: string) => string,
    {
      hasStdin,
      signal,
      spec,
    }: { readonly hasStdin: boolean; readonly signal: AbortSignal | undefined; readonly spec?: ProcessSpec },
  ): Promise<FarProcess> {
    const started = await line.start(body, { hasStdin, signal });
    if (typeof started !== 'string') return started;
    const [code, message] = this.#refusal(started, spec);
    throw new LitterboxError(code, message, { operation: 'host.spawn' });
  }

  #refusal(word: string, spec: ProcessSpec | undefined): readonly [LitterboxErrorCode, string] {
    const program = shown(spec?.argv[0] ?? 'sh');
    switch (word) {
      case 'missing':
        return ['TOOL_MISSING', `The program ${program} is not installed on ${this.name}.`];
      case 'denied':
        return ['PERMISSION_DENIED', `The program ${program} on ${this.name} may not be run by this user.`];
      case 'cwd':
        return ['NOT_FOUND', `There is no directory ${shown(spec?.cwd ?? '/')} on ${this.name}.`];
      case 'cwd-denied':
        return [
          'PERMISSION_DENIED',
          `The directory ${shown(spec?.cwd ?? '/')} on ${this.name} is closed to this user.`,
        ];
      default:
        return ['UNAVAILABLE', `${this.name} starts nothing more for this connection.`];
    }
  }

  async #run(
    line: ShellConnection,
    script: string,
    options: Omit<FileShellOptions, 'isRead'>,
  ): Promise<FileShellAnswer> {
    const { stdin, maxOutputBytes, signal } = options;
    await using process = await this.#start(line, (nonce) => `${begins(nonce)}\n${script}`, {
      hasStdin: stdin !== undefined,
      signal,
    });
    const writing = stdin && process.write(stdin).then(() => process.closeStdin());
    writing?.catch(() => {}); // whoever reads the output is told
    const parts = { 'stdout-data': [] as Uint8Array[], 'stderr-data': [] as Uint8Array[] };
    let total = 0;
    for await (const { type, bytes } of process) {
      total += bytes.length;
      if (total > maxOutputBytes + MAX_SAID_BYTES)
        throw new LitterboxError(
          'RESOURCE_EXHAUSTED',
          `A script on ${this.name} printed more than ${maxOutputBytes} bytes.`,
          { operation: 'host.script' },
        );
      parts[type].push(bytes);
    }
    const { code } = await process.exit;
    return { code, stdout: joinBytes(parts['stdout-data']), stderr: joinBytes(parts['stderr-data']) };
  }
}
