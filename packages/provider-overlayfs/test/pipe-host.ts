import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import {
  type CallOptions,
  type ExitStatus,
  type Host,
  type HostFacts,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type ProcessSpec,
} from '@litterbox/core/provider';

function modeOf(options: { readonly mode?: number } | undefined): { readonly mode?: number } {
  return options?.mode === undefined ? {} : { mode: options.mode };
}

interface Message {
  readonly call?: number;
  readonly result?: unknown;
  readonly error?: { readonly code?: never; readonly message: string; readonly details: never };
  readonly process?: number;
  readonly type?: OutputChunk['type'];
  readonly bytes?: string;
  readonly end?: boolean;
  readonly exit?: ExitStatus;
}

/**
 * A host that is reached through one `sh` over a pipe, and in whose mount namespace a directory exists that is nowhere else:
 * whatever a provider does there by another way than the Host port fails. Needs root.
 */
export class PipeHost implements Host {
  readonly name = 'pipe';
  readonly environment = {};
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #calls = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>();
  readonly #processes = new Map<number, PipeProcess>();
  #last = 0;

  /** @param directory an empty directory, covered by a file system of the namespace's own */
  constructor(directory: string) {
    const server = new URL('pipe-host-server.ts', import.meta.url).pathname;
    const script =
      'mount -t ext4 -o loop "$1/image" "$1" && exec "$2" --no-warnings --conditions=@litterbox/source "$3"';
    this.#shell = spawn(
      'unshare',
      [
        '-m',
        '--propagation',
        'private',
        'sh',
        '-c',
        `truncate -s 2G "$1/image" && mkfs.ext4 -q "$1/image" && ${script}`,
        'sh',
        directory,
        process.execPath,
        server,
      ],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    this.#shell.stderr.on('data', (text: Buffer) => process.stderr.write(text));
    createInterface({ input: this.#shell.stdout }).on('line', (line) => this.#receive(JSON.parse(line) as Message));
  }

  facts(): Promise<HostFacts> {
    return this.call('facts');
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    options?.signal?.throwIfAborted();
    const id = ++this.#last;
    const handle = new PipeProcess(this, id, spec, options?.signal);
    this.#processes.set(id, handle);
    await this.call('spawn', id, spec);
    return handle;
  }

  readonly files: Host['files'] = {
    read: async (path, options) => {
      const { maxBytes } = options ?? {};
      const text = await this.#file<string | undefined>(
        options,
        'read',
        path,
        maxBytes === undefined ? {} : { maxBytes },
      );
      return text === undefined ? undefined : new Uint8Array(Buffer.from(text, 'base64'));
    },
    write: (path, bytes, options) =>
      this.#file(options, 'writeFile', path, Buffer.from(bytes).toString('base64'), modeOf(options)),
    makeDirectory: (path, options) => this.#file(options, 'makeDirectory', path, modeOf(options)),
    list: (path, options) => this.#file(options, 'list', path),
    stat: (path, options) => this.#file(options, 'stat', path),
    rename: (source, target, options) => this.#file(options, 'rename', source, target),
    remove: (path, options) => this.#file(options, 'remove', path),
  };

  async #file<Result>(call: CallOptions | undefined, method: string, ...args: readonly unknown[]): Promise<Result> {
    call?.signal?.throwIfAborted();
    return await this.call(method, ...args);
  }

  async connect(): Promise<never> {
    throw new LitterboxError('UNSUPPORTED', 'The pipe host has no sockets.', { operation: 'host.connect' });
  }

  call<Result>(method: string, ...args: readonly unknown[]): Promise<Result> {
    const call = ++this.#last;
    return new Promise<Result>((resolve, reject) => {
      this.#calls.set(call, { resolve, reject });
      this.tell(call, method, ...args);
    });
  }

  tell(call: number, method: string, ...args: readonly unknown[]): void {
    this.#shell.stdin.write(`${JSON.stringify({ call, method, args })}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#shell.once('close', resolve));
    this.#shell.stdin.end();
    await ended;
  }

  #receive(message: Message): void {
    if (message.process !== undefined) return this.#processes.get(message.process)?.receive(message);
    const waiting = this.#calls.get(message.call ?? 0);
    this.#calls.delete(message.call ?? 0);
    if (!message.error) waiting?.resolve(message.result as never);
    else
      waiting?.reject(
        message.error.code === undefined
          ? new Error(message.error.message)
          : new LitterboxError(message.error.code, message.error.message, message.error.details),
      );
  }
}

class PipeProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly #host: PipeHost;
  readonly #id: number;
  readonly #chunks: OutputChunk[] = [];
  #hasEnded = false;
  #wake = () => {};
  #resolveExit: (exit: ExitStatus) => void = () => {};

  constructor(host: PipeHost, id: number, _spec: ProcessSpec, signal: AbortSignal | undefined) {
    this.#host = host;
    this.#id = id;
    this.exit = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
    signal?.addEventListener('abort', () => void this.kill('SIGKILL'), { once: true });
  }

  receive({ type, bytes, end, exit }: Message): void {
    if (exit) this.#resolveExit(exit);
    if (end) this.#hasEnded = true;
    if (type && bytes !== undefined) this.#chunks.push({ type, bytes: new Uint8Array(Buffer.from(bytes, 'base64')) });
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#host.tell(0, 'acknowledge', this.#id);
        yield chunk;
      } else if (this.#hasEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += 2 ** 16)
      await this.#host.call('write', this.#id, Buffer.from(bytes.subarray(at, at + 2 ** 16)).toString('base64'));
  }

  async closeStdin(): Promise<void> {
    await this.#host.call('closeStdin', this.#id);
  }

  async kill(signal: string): Promise<void> {
    await this.#host.call('kill', this.#id, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.call('dispose', this.#id);
    this.#hasEnded = true;
    this.#wake();
  }
}
