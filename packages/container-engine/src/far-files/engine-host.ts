import { setTimeout as delay } from 'node:timers/promises';
import {
  type ByteStream,
  type CallOptions,
  decodeRaw,
  ExecChannel,
  type Host,
  type HostFacts,
  type HostFiles,
  isLitterboxError,
  KILL_FUNCTION,
  LitterboxError,
  type ProcessHandle,
  type ProcessSpec,
  shown,
  type SocketAddress,
} from '@litterbox/core/provider';
import { type FileShell, type FileShellAnswer, ShellFiles } from '@litterbox/linux-sandbox';
import { ExecProcess } from '@litterbox/sandbox-kit';
import { execEngineOf } from '../process/exec-engine.ts';
import type { Engine } from '../engine/engine.ts';
import { isEndingNow } from '../engine/engine-answers.ts';
import { answerOf } from '../engine/engine-error.ts';
import { inspectContainer } from '../engine/inspect-container.ts';
import { noAnswer } from '../engine/invalid-answer.ts';
import type { FileAccessContainer } from './file-access-container.ts';

export interface EngineHostInput {
  readonly engine: Engine;
  /** The container that files are reached through, which runs then. */
  container(options?: CallOptions): Promise<FileAccessContainer>;
}

const SEARCH_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const ENVIRONMENT = { PATH: SEARCH_PATH.join(':'), HOME: '/', LANG: 'C' };
const OPEN_FILES = 4096;
/** How long what ends processes may take: it only ever sends signals. */
const TELL_MS = 10_000;
/** What a channel takes as a command's stdin. */
const CHUNK_BYTES = 48 * 1024;
const MAX_FACTS_BYTES = 4096;
/** How often a program is started whose container others remove meanwhile. */
const MAX_STARTS = 4;
/** How long a container that is ending is left alone. */
const END_MS = 200;

/**
 * An engine's own machine, as seen from a container on it: root's files in one volume, at the same path as on that machine, so that
 * the engine can be told to mount them. For engines that do not see this machine's files.
 */
export class EngineHost implements Host {
  readonly name: string;
  readonly environment = {};
  readonly files: HostFiles;
  readonly #input: EngineHostInput;
  readonly #channel: ExecChannel;
  readonly #processes = new Set<ExecProcess>();
  /** Of the programs of this instance that run, its own channel's too. */
  readonly #execIds = new Set<string>();
  #container: Promise<FileAccessContainer> | undefined;
  #facts: Promise<HostFacts> | undefined;

  constructor(input: EngineHostInput) {
    this.#input = input;
    this.name = input.engine.provider;
    this.#channel = new ExecChannel({ spawn: (spec, call) => this.#start(spec, true, call) });
    this.files = new ShellFiles({
      run: (...asked) => this.#runShell(...asked),
      maxStdinBytes: CHUNK_BYTES,
    });
  }

  /** As the engine knows the programs that this instance runs in the container. */
  get execIds(): ReadonlySet<string> {
    return this.#execIds;
  }

  async facts(options?: CallOptions): Promise<HostFacts> {
    options?.signal?.throwIfAborted();
    this.#facts ??= this.#readFacts().catch((error: unknown) => {
      this.#facts = undefined;
      throw error;
    });
    return await this.#facts;
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    return await this.#start(spec, false, options);
  }

  async connect(_address: SocketAddress, options?: CallOptions): Promise<ByteStream> {
    options?.signal?.throwIfAborted();
    throw new LitterboxError(
      'UNSUPPORTED',
      `Sockets on the machine of ${this.#input.engine.title} cannot be reached.`,
      {
        operation: 'host.connect',
        provider: this.name,
        hint: 'Use an engine on this machine.',
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
    await this.#channel[Symbol.asyncDispose]();
  }

  /** For files. What only reads is run again when the container ends under it. */
  async #runShell(...[script, words, options]: Parameters<FileShell['run']>): Promise<FileShellAnswer> {
    const { stdin, maxOutputBytes, isRead, signal } = options;
    const command = { argv: words, script, maxOutputBytes, ...(stdin && { stdin }) };
    const { exit, stdout, stderr, interruption } = await this.#channel.run(command, { signal });
    signal?.throwIfAborted();
    if (stdout.droppedBytes > 0) throw tooMuch(words[0]);
    if (!interruption) return { code: exit.code, stdout: stdout.bytes, stderr: stderr.bytes };
    if (isRead) return await this.#runShell(script, words, options);
    throw new LitterboxError('UNAVAILABLE', "The container that the engine's files are reached through has ended.", {
      operation: 'provider.files',
      provider: this.name,
      hint: 'Try again: Litterbox starts it.',
    });
  }

  async #start(spec: ProcessSpec, isOwn: boolean, options?: CallOptions): Promise<ProcessHandle> {
    for (let attempt = 1; ; attempt += 1) {
      options?.signal?.throwIfAborted();
      const container = this.#found(options);
      try {
        return await this.#startIn(container, spec, isOwn, options);
      } catch (error) {
        // It may have ended, or have been removed, since it was looked for. Of several that hear of it at once only one looks anew.
        if (this.#container === container) this.#container = undefined;
        const isOfSpec =
          isLitterboxError(error) && ['NOT_FOUND', 'TOOL_MISSING'].includes(error.code) && !isOfEngine(error);
        if (options?.signal?.aborted || isOfSpec || attempt === MAX_STARTS) throw error;
        if (isEndingNow(error)) {
          await delay(END_MS, undefined, { ...(options?.signal && { signal: options.signal }) });
          continue;
        }
        const id = await container.then((one) => one.id).catch(() => undefined);
        if (id !== undefined && (await this.#isRunning(id))) throw error;
      }
    }
  }

  #found(options?: CallOptions): Promise<FileAccessContainer> {
    this.#container ??= this.#input.container(options);
    return this.#container;
  }

  async #isRunning(id: string): Promise<boolean> {
    const found = await inspectContainer(this.#input.engine, 'provider.files', id);
    return found?.State.Running === true && !found.State.Paused;
  }

  async #startIn(
    container: Promise<FileAccessContainer>,
    spec: ProcessSpec,
    isOwn: boolean,
    options?: CallOptions,
  ): Promise<ExecProcess> {
    const { id, names } = await container;
    const env = spec.env ?? ENVIRONMENT;
    const process = await ExecProcess.start(
      {
        engine: execEngineOf(this.#input.engine, id),
        spec: { cwd: '/', ...spec, env },
        inherited: names,
        openFiles: OPEN_FILES,
        processors: [],
        isUnmarked: true,
        ...(!isOwn && { runBeside: (script: string) => this.#tell(script) }),
        onEnd: (one) => {
          this.#processes.delete(one);
          this.#execIds.delete(one.execId);
        },
      },
      options,
    ).catch((error: unknown) => {
      throw toolMissing(error, spec.argv[0]);
    });
    this.#execIds.add(process.execId);
    if (!isOwn) this.#processes.add(process);
    return process;
  }

  async #tell(script: string): Promise<void> {
    await this.#channel
      .run({ argv: ['-'], script: `${KILL_FUNCTION}${script}`, timeoutMs: TELL_MS, maxOutputBytes: 1024 })
      .catch(() => undefined); // the container has ended, and so has what should be told
  }

  async #readFacts(): Promise<HostFacts> {
    const script = 'uname -m; uname -r; id -u; id -g; cat /proc/sys/kernel/random/boot_id';
    const { stdout } = await this.#channel.run({ argv: ['-'], script, maxOutputBytes: MAX_FACTS_BYTES });
    const [architecture = '', kernelRelease = '', uid = '', gid = '', bootId = ''] = decodeRaw(stdout.bytes).split(
      '\n',
    );
    if (![uid, gid].every((number) => /^\d{1,10}$/.test(number)))
      throw noAnswer(this.#input.engine, 'host.facts', 'the user of a container');
    return {
      platform: 'linux',
      architecture,
      kernelRelease,
      uid: Number(uid),
      gid: Number(gid),
      homeDirectory: '/',
      searchPath: SEARCH_PATH,
      bootId,
    };
  }
}

/** The engine's own answer, not what a shell said. */
const isOfEngine = ({ cause }: Error) => answerOf(cause).statusCode !== undefined;

/** A host says `TOOL_MISSING` where a sandbox says that there is no such program. */
function toolMissing(error: unknown, program: string): unknown {
  if (!(error instanceof LitterboxError && error.code === 'NOT_FOUND' && / no program /.test(error.message)))
    return error;
  return new LitterboxError(
    'TOOL_MISSING',
    `The image that reaches the engine's files has no ${program}.`,
    { operation: 'host.spawn', hint: 'Make the first sandbox of an image that has it, such as debian.' },
    { cause: error },
  );
}

function tooMuch(path: string): LitterboxError {
  return new LitterboxError('RESOURCE_EXHAUSTED', `${shown(path)} holds more than can be told.`, {
    operation: 'provider.files',
  });
}
