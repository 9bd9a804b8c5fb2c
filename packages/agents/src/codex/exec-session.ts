import { isLitterboxError } from 'litterbox';
import { addressOf, ERRORS, type Method, type ParamsOf, SEEN_WITH } from './messages.ts';
import { ExecError } from './exec-error.ts';
import type { ExecPlace } from '../exec-place.ts';
import { insidePath } from '../paths.ts';
import { ServedProcess, type Told } from './served-process.ts';
import { walk } from './walk.ts';

/** Programs that one client may have at once, and ended ones that it may still ask about. */
const MAX_RUNNING = 256;
const MAX_ENDED = 64;
/** The most that an answer holds of a process's output. */
const MAX_READ_BYTES = 2 ** 20;
const MAX_WAIT_MS = 60_000;

/** Sends a message; resolves once more can be taken. */
export type Send = (message: object) => Promise<void>;

/** One client's work in the sandbox, through any number of connections that follow each other. */
export class ExecSession {
  readonly id = crypto.randomUUID();
  readonly #place: ExecPlace;
  readonly #agent: string;
  readonly #processes = new Map<string, ServedProcess | 'starting'>();
  /** Ended and forgotten, with something left in the background. */
  readonly #background = new Set<ServedProcess>();
  #send: Send | undefined;

  /** @param agent what called, in the log */
  constructor(place: ExecPlace, agent: string) {
    this.#place = place;
    this.#agent = agent;
  }

  get isConnected(): boolean {
    return this.#send !== undefined;
  }

  connect(send: Send): void {
    this.#send = send;
  }

  disconnect(): void {
    this.#send = undefined;
  }

  /** Ends every program. */
  async close(): Promise<void> {
    this.#send = undefined;
    const served = [...this.#processes.values(), ...this.#background].filter((one) => one !== 'starting');
    await Promise.all(served.map(async (one) => await one.terminate()));
    await Promise.all(served.map(async (one) => await one.ended));
  }

  /** @throws ExecError, and what the sandbox throws. */
  async answer<Name extends Exclude<Method, 'initialize'>>(method: Name, params: ParamsOf<Name>): Promise<object> {
    const answers: { readonly [One in Exclude<Method, 'initialize'>]: (params: ParamsOf<One>) => Promise<object> } = {
      'environment/info': async () => this.#information(),
      'environmentConfig/read': async () => this.#configuration(),
      'process/start': async (start) => await this.#start(start),
      'process/read': async (read) => await this.#read(read),
      'process/write': async (write) => await this.#write(write),
      'process/signal': async ({ processId }) => {
        await this.#running(processId)?.interrupt();
        return {};
      },
      'process/terminate': async ({ processId }) => ({
        running: (await this.#running(processId)?.terminate()) ?? false,
      }),
      'fs/getMetadata': async ({ path }) => {
        const { type, isLink, sizeBytes, modifiedMs } = await this.#place.hands.files.stat(this.#inside(path));
        return {
          isDirectory: type === 'directory',
          isFile: type === 'file',
          isSymlink: isLink,
          size: sizeBytes,
          createdAtMs: 0,
          modifiedAtMs: modifiedMs,
        };
      },
      'fs/canonicalize': async ({ path }) => {
        await this.#place.hands.files.stat(this.#inside(path));
        return { path: addressOf(path) };
      },
      'fs/readFile': async ({ path }) => ({
        dataBase64: Buffer.from(await this.#place.hands.files.read(this.#inside(path))).toString('base64'),
      }),
      'fs/readDirectory': async ({ path }) => ({
        entries: (await this.#place.hands.files.list(this.#inside(path))).map(({ path: fileName, type }) => ({
          fileName,
          isDirectory: type === 'directory',
          isFile: type === 'file',
        })),
      }),
      'fs/walk': async ({ path, options }) => {
        const top = this.#inside(path);
        const { entries, isTruncated } = await walk(this.#place.hands.files, top, options);
        const told = entries.map(({ path: below, kind }) => ({
          path: addressOf(`${path}${below.slice(top.length)}`),
          kind,
        }));
        return { entries: told, errors: [], truncated: isTruncated };
      },
      'fs/writeFile': async ({ path, dataBase64 }) => {
        await this.#place.hands.files.write(this.#inside(path), dataBase64);
        return {};
      },
      'fs/createDirectory': async ({ path, recursive }) => {
        await this.#place.hands.files.mkdir(this.#inside(path), { recursive: recursive ?? false });
        return {};
      },
      'fs/remove': async ({ path, recursive, force }) => {
        try {
          await this.#place.hands.files.remove(this.#inside(path), { recursive: recursive ?? false });
        } catch (error) {
          if (force !== true || !isLitterboxError(error, 'NOT_FOUND')) throw error;
        }
        return {};
      },
      'fs/copy': async ({ sourcePath, destinationPath, recursive }) => {
        await this.#place.hands.files.copy(this.#inside(sourcePath), this.#inside(destinationPath), { recursive });
        return {};
      },
      // Nothing is watched: Codex then looks again by itself.
      'fs/watchMissing': async () => ({ watching: false }),
    };
    return await answers[method](params);
  }

  /** The repository's place on the person's machine is the workspace, from which paths are named; every other path is the sandbox's own. */
  #inside(path: string): string {
    const { root, hands } = this.#place;
    return insidePath({ root }, path) ?? insidePath({ root: hands.record.workdir }, path) ?? path;
  }

  get initialized(): object {
    return { sessionId: this.id, environmentInfo: this.#information() };
  }

  #information(): object {
    const { shell, hands, root } = this.#place;
    return {
      shell: { name: shell.slice(shell.lastIndexOf('/') + 1), path: shell },
      executorVersion: SEEN_WITH,
      providerId: `litterbox:${hands.record.id}`,
      cwd: addressOf(root),
      userHomeDir: addressOf(HOME),
      platformOs: 'linux',
      prependPathDirs: [],
      temporaryDirectories: [],
      tempDir: 'file:///tmp',
      capabilities: {},
    };
  }

  /** The sandbox configures nothing of Codex: what an agent writes there must not start programs on the person's machine. */
  #configuration(): object {
    const none = { layers: [], cloudInsertionIndex: 0 };
    return {
      userHomeDir: addressOf(HOME),
      codexHomeDir: addressOf(`${HOME}/.codex`),
      hostname: this.#place.hands.name,
      config: none,
      requirements: none,
    };
  }

  async #start({
    processId,
    metadata,
    argv,
    cwd,
    env,
    envPolicy,
    tty,
    pipeStdin,
  }: ParamsOf<'process/start'>): Promise<object> {
    if (this.#processes.has(processId)) throw new ExecError(ERRORS.invalidRequest, `There is a process ${processId}.`);
    if (this.#running().length >= MAX_RUNNING)
      throw new ExecError(ERRORS.internal, `There are ${MAX_RUNNING} processes at once; end one first.`);
    this.#processes.set(processId, 'starting');
    try {
      const callId = metadata?.toolCallId ?? undefined;
      const hasInput = tty || (pipeStdin ?? false);
      const attached = await this.#place.hands.attach({
        command: withoutLogin(argv),
        cwd: this.#inside(cwd),
        env: { ...envPolicy?.set, ...env },
        tool: this.#agent,
        noInput: !hasInput,
        // A model reads output and errors of its own calls as one text, in their order. Codex asks for some itself and reads the two apart.
        mergeOutput: !tty && (callId !== undefined || this.#agent !== 'codex'),
        ...(callId !== undefined && { callId: callId.replaceAll(/[^\w.:-]/g, '-').slice(0, 128) }),
        ...(tty && { terminal: { columns: 120, rows: 40 } }),
      });
      const served = new ServedProcess(attached, {
        isTerminal: tty,
        hasInput,
        tell: async (told) => await this.#send?.(notification(processId, told)),
      });
      this.#processes.set(processId, served);
      this.#forget();
    } catch (error) {
      this.#processes.delete(processId);
      throw error;
    }
    return { processId, sandboxType: 'none' };
  }

  async #read({ processId, afterSeq, maxBytes, waitMs }: ParamsOf<'process/read'>): Promise<object> {
    const served = this.#processes.get(processId);
    if (served === undefined || served === 'starting')
      throw new ExecError(ERRORS.invalidRequest, `There is no process ${processId}.`);
    const { chunks, nextSequence, exitCode, isClosed, failure } = await served.read(
      afterSeq ?? 0,
      Math.min(maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES),
      Math.min(waitMs ?? 0, MAX_WAIT_MS),
    );
    return {
      chunks: chunks.map(({ sequence, stream, bytes }) => ({ seq: sequence, stream, chunk: base64(bytes) })),
      nextSeq: nextSequence,
      exited: exitCode !== undefined,
      exitCode: exitCode ?? null,
      closed: isClosed,
      failure: failure ?? null,
      sandboxDenied: false,
    };
  }

  async #write({ processId, chunk, writeId }: ParamsOf<'process/write'>): Promise<object> {
    const served = this.#processes.get(processId);
    if (served === undefined) return { status: 'unknownProcess' };
    if (served === 'starting') return { status: 'starting' };
    return { status: await served.write(chunk, writeId ?? undefined) };
  }

  #running(processId: string): ServedProcess | undefined;
  #running(): readonly ServedProcess[];
  #running(processId?: string): ServedProcess | undefined | readonly ServedProcess[] {
    const running = [...this.#processes].flatMap(([id, one]) =>
      one === 'starting' || one.hasExited ? [] : [[id, one] as const],
    );
    return processId === undefined ? running.map(([, one]) => one) : running.find(([id]) => id === processId)?.[1];
  }

  /** The oldest that ended. */
  #forget(): void {
    for (const one of this.#background) if (one.isOver) this.#background.delete(one);
    const ended = [...this.#processes].flatMap(([id, one]) =>
      one !== 'starting' && one.isClosed ? [{ id, one }] : [],
    );
    for (const { id, one } of ended.slice(0, -MAX_ENDED)) {
      this.#processes.delete(id);
      one.forget();
      if (!one.isOver) this.#background.add(one);
    }
  }
}

/** A login shell reads `/etc/profile` first, which sets a PATH of its own: the programs of the sandbox would not be found. */
function withoutLogin(argv: ParamsOf<'process/start'>['argv']): ParamsOf<'process/start'>['argv'] {
  const [program, option, ...rest] = argv;
  return option === '-lc' && /(?:^|\/)(?:ba|da|k|z)?sh$/.test(program) ? [program, '-c', ...rest] : argv;
}

/** HOME of every command inside. */
export const HOME = '/home/agent';
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

function notification(processId: string, told: Told): object {
  const { sequence: seq } = told;
  switch (told.type) {
    case 'output':
      return {
        method: 'process/output',
        params: { processId, seq, stream: told.stream, chunk: base64(told.bytes) },
      };
    case 'exited':
      return {
        method: 'process/exited',
        params: { processId, seq, exitCode: told.exitCode, sandboxDenied: false },
      };
    case 'closed':
      return { method: 'process/closed', params: { processId, seq } };
  }
}
