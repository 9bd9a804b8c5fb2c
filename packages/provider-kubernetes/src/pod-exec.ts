import {
  type CallOptions,
  connectionLost,
  LitterboxError,
  type OutputChunk,
  shown,
  type TerminalSize,
} from '@litterbox/core/provider';
import { encodedScript, type ExecEngine, type ExecRequest, type RawExec } from '@litterbox/sandbox-kit';
import { ChannelSocket } from './api/channel-socket.ts';
import type { KubeApi } from './api/kube-api.ts';

/** How the cluster is called in errors. */
export const TITLE = 'Kubernetes';
/** The container of a pod in which programs run. */
export const CONTAINER = 'sandbox';
/** The container beside it, which shares its network and its volume and in which no program of an agent runs. */
export const BESIDE = 'beside';

const [STDIN, STDOUT, STDERR, STATUS, RESIZE] = [0, 1, 2, 3, 4] as const;
/** Only the newer protocol can end stdin alone, by this channel. */
const CLOSE = 255;
const V5 = 'v5.channel.k8s.io';
const V4 = 'v4.channel.k8s.io';
/** Within our own wrapper: the parts of a stdin that cannot be ended are no larger. */
const FRAME_BYTES = 16 * 2 ** 10;
/** How a program ended is a page of JSON at most. */
const MAX_STATUS_BYTES = 64 * 2 ** 10;
/** A terminal prints no more before it takes a line of ours. */
const MAX_GREETING_BYTES = 64 * 2 ** 10;
const GREETING_MS = 20_000;

/**
 * Reads the script from stdin, because arguments stand in the API server's logs. Byte by byte, so that what follows is the program's. A terminal would
 * cut a long line and print it.
 */
const LOADER = 'IFS= read -r lb && eval "$lb"';
const GREETING = Buffer.from('\u001e+');
const TERMINAL_LOADER = `lb_tty=$(stty -g) && stty -icanon -echo min 1 && printf '\\036+' && IFS= read -r lb && stty "$lb_tty" && eval "$lb"`;

/** Where programs are to run. */
export interface ExecPlace {
  readonly pod: string;
  /** @defaultValue that of the sandbox */
  readonly container?: string;
  /** The container may not run yet: who asks will ask again. @defaultValue false */
  readonly isEarly?: boolean;
}

/** The cluster, for programs of one container of a pod. */
export function podExecEngine(api: KubeApi, provider: string, place: ExecPlace): ExecEngine {
  return {
    provider,
    title: TITLE,
    async start({ script, environment, hasTerminal, hasStdin }: ExecRequest, options?: CallOptions): Promise<RawExec> {
      const argv = ['env', '-i', '/bin/sh', '-c', hasTerminal ? TERMINAL_LOADER : LOADER];
      const socket = await openExec(api, place, argv, hasTerminal, options);
      const isFramed = socket.protocol !== V5;
      const exports = environment.map((one) => {
        const cut = one.indexOf('=');
        return `export ${one.slice(0, cut)}=${quotedValue(one.slice(cut + 1))}`;
      });
      const text = [...exports, ...(hasStdin ? [] : ['exec </dev/null']), script(isFramed)].join('\n');
      const line = new TextEncoder().encode(`eval ${encodedScript(text)}\n`);
      const exec = new PodExec(provider, socket, hasStdin && !hasTerminal && isFramed);
      try {
        if (hasTerminal) await exec.greeted(options);
        await socket.send(STDIN, line);
        return exec;
      } catch (error) {
        exec.destroy();
        throw error;
      }
    },
  };
}

async function openExec(
  api: KubeApi,
  { pod, container = CONTAINER, isEarly = false }: ExecPlace,
  argv: readonly string[],
  hasTerminal: boolean,
  options?: CallOptions,
): Promise<ChannelSocket> {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true' });
  query.set('stderr', String(!hasTerminal));
  query.set('tty', String(hasTerminal));
  for (const word of argv) query.append('command', word);
  const path = `${await api.pathOf(`pods/${pod}/exec`)}?${query.toString()}`;
  return new ChannelSocket(await api.socket('process.spawn', path, [V5, V4], { ...options, isOnce: isEarly }));
}

const quotedValue = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

/** How the cluster says that a program ended. */
interface Status {
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: { readonly causes?: readonly { readonly reason?: unknown; readonly message?: unknown }[] };
}

/** One program in a pod, over a websocket of its own. */
class PodExec implements RawExec {
  readonly id = '';
  readonly output: AsyncIterable<OutputChunk>;
  readonly closed: Promise<void>;
  readonly #provider: string;
  readonly #socket: ChannelSocket;
  readonly #chunks: AsyncGenerator<OutputChunk, void, undefined>;
  readonly #isFramed: boolean;
  readonly #early: OutputChunk[] = [];
  #status: Status | undefined;
  #hasEndedInput = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(provider: string, socket: ChannelSocket, isFramed: boolean) {
    this.#provider = provider;
    this.#socket = socket;
    this.#isFramed = isFramed;
    this.#chunks = this.#read();
    this.output = this.#output();
    this.closed = socket.closed;
  }

  /** Waits until the terminal takes a line. */
  async greeted(options?: CallOptions): Promise<void> {
    const timer = setTimeout(() => this.#socket.destroy(), GREETING_MS);
    const abort = () => this.#socket.destroy();
    options?.signal?.addEventListener('abort', abort, { once: true });
    let output = Buffer.alloc(0);
    try {
      for (let next = await this.#chunks.next(); !next.done; next = await this.#chunks.next()) {
        output = Buffer.concat([output, next.value.bytes]);
        const at = output.indexOf(GREETING);
        if (at >= 0) {
          const rest = output.subarray(at + GREETING.length);
          if (rest.length > 0) this.#early.push({ type: 'stdout-data', bytes: rest });
          return;
        }
        if (output.length > MAX_GREETING_BYTES) break;
      }
    } finally {
      clearTimeout(timer);
      options?.signal?.removeEventListener('abort', abort);
    }
    options?.signal?.throwIfAborted();
    throw new LitterboxError(
      'UNSUPPORTED',
      `No terminal was made in the sandbox: ${shown(output.toString().slice(0, 200))}.`,
      {
        operation: 'process.spawn',
        provider: this.#provider,
        hint: 'Take an image that has stty (coreutils or BusyBox), or start the program without a terminal.',
      },
    );
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#hasEndedInput) return;
    for (let at = 0; at < bytes.length && this.#socket.isOpen; at += FRAME_BYTES) {
      const piece = bytes.subarray(at, at + FRAME_BYTES);
      await this.#send(this.#isFramed ? Buffer.concat([Buffer.from(`${piece.length}\n`), piece]) : piece);
    }
  }

  endInput(): void {
    if (this.#hasEndedInput) return;
    this.#hasEndedInput = true;
    if (this.#socket.protocol === V5) void this.#send(Uint8Array.of(STDIN), CLOSE);
    else if (this.#isFramed) void this.#send(Buffer.from('0\n'));
  }

  async exitCode(): Promise<number | undefined> {
    const status = this.#status;
    if (status?.status === 'Success') return 0;
    const cause = status?.details?.causes?.find?.(({ reason }) => reason === 'ExitCode');
    if (status?.reason === 'NonZeroExitCode' && /^\d{1,3}$/.test(String(cause?.message))) return Number(cause?.message);
    throw connectionLost(
      status === undefined
        ? 'The cluster closed the connection before it said how the program ended.'
        : `The cluster could not carry the program on: ${shown(typeof status.message === 'string' ? status.message.slice(0, 500) : 'no reason given')}.`,
      {
        operation: 'process.exit',
        provider: this.#provider,
        hint: 'Look whether the sandbox still runs, then try again.',
      },
    );
  }

  async resize({ columns, rows }: TerminalSize): Promise<void> {
    await this.#send(Buffer.from(JSON.stringify({ Width: columns, Height: rows })), RESIZE);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** One after the other: what ends input comes behind it. */
  async #send(bytes: Uint8Array, channel: number = STDIN): Promise<void> {
    const sending = this.#sending.then(() => this.#socket.send(channel, bytes));
    this.#sending = sending.catch(() => {});
    await sending;
  }

  async *#output(): AsyncGenerator<OutputChunk, void, undefined> {
    yield* this.#early.splice(0);
    yield* this.#chunks;
  }

  async *#read(): AsyncGenerator<OutputChunk, void, undefined> {
    for await (const { channel, bytes } of this.#socket) {
      if (channel === STDOUT) yield { type: 'stdout-data', bytes };
      else if (channel === STDERR) yield { type: 'stderr-data', bytes };
      else if (channel === STATUS) this.#status ??= statusOf(bytes);
    }
  }
}

/** Whatever is no status is one that says nothing. */
function statusOf(bytes: Buffer): Status {
  if (bytes.length > MAX_STATUS_BYTES) return {};
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
