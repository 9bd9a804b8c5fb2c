import {
  type ExitStatus,
  exitStatusOf,
  joinBytes,
  LitterboxError,
  connectionLost,
  type OutputChunk,
  type ProcessHandle,
} from '@litterbox/core/provider';
import { closeQuietly } from '@litterbox/linux-sandbox';
import { encodedScript } from '@litterbox/sandbox-kit';
import { FAR_PATH } from './far-path.ts';
import type { ConnectionTimeouts } from './connection-timeouts.ts';
import type { ShellTransport } from './shell-transport.ts';
import { MarkedStream } from './marked-stream.ts';
import { MUX_FRAME_BYTES, MUX_WINDOW_BYTES, muxProgram } from './mux-program.ts';

const HEADER_BYTES = 9;
/** What was taken is told to a far end; one that reads none of it any more is none of ours. */
const MAX_UNTOLD_FRAMES = 10_000;

type Letter = 'S' | 'W' | 'E' | 'A' | 'C';

/**
 * Any number of shells over one session of a transport, each started after one round trip. The session's login shell, which may take seconds to
 * read its files, and the server's bound on sessions are met once.
 */
export class ShellMux implements ShellTransport {
  readonly ended: Promise<string>;
  readonly #transport: ShellTransport;
  readonly #session: ProcessHandle;
  readonly #programs = new Map<number, MuxProcess>();
  #lastId = 0;
  #isGone = false;
  #rest: Uint8Array = new Uint8Array();
  #writing: Promise<void> = Promise.resolve();
  #untoldFrames = 0;

  private constructor(transport: ShellTransport, session: ProcessHandle) {
    this.#transport = transport;
    this.#session = session;
    this.ended = transport.ended;
  }

  /** Takes the transport over where it can. @returns `undefined` where the machine has no Perl that can do it */
  static async open(transport: ShellTransport, patience: ConnectionTimeouts): Promise<ShellMux | undefined> {
    const nonce = crypto.randomUUID().replaceAll('-', '');
    const program = encodedScript(muxProgram(nonce, patience));
    // Not one that the login's PATH puts in front.
    const find = `lb_perl=$(PATH=${FAR_PATH} command -v perl) || exit`;
    const session = await transport.start(`exec /bin/sh -c '${find}; exec "$lb_perl" -e ${program}'`);
    const mux = new ShellMux(transport, session);
    if (await mux.#greeted(nonce)) return mux;
    await closeQuietly(session);
    return undefined;
  }

  async start(commandLine: string): Promise<ProcessHandle> {
    if (this.#isGone) throw gone();
    const id = (this.#lastId += 1);
    const program = new MuxProcess((letter, bytes) => this.#send(letter, id, bytes));
    this.#programs.set(id, program);
    void program.over.then(() => this.#programs.delete(id));
    await this.#send('S', id, new TextEncoder().encode(commandLine));
    return program;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose();
    await this.#session.closeStdin().catch(() => {});
    await this.#transport[Symbol.asyncDispose]();
  }

  async #send(letter: Letter, id: number, bytes: Uint8Array): Promise<void> {
    if (this.#isGone) return;
    const frame = new Uint8Array(HEADER_BYTES + bytes.length);
    const view = new DataView(frame.buffer);
    frame[0] = letter.charCodeAt(0);
    view.setUint32(1, id);
    view.setUint32(5, bytes.length);
    frame.set(bytes, HEADER_BYTES);
    this.#untoldFrames += 1;
    if (this.#untoldFrames > MAX_UNTOLD_FRAMES) {
      this.#lose();
      return await closeQuietly(this.#transport);
    }
    const writing = this.#session.write(frame).finally(() => {
      this.#untoldFrames -= 1;
    });
    this.#writing = writing.catch(() => this.#lose());
    await this.#writing;
  }

  async #greeted(nonce: string): Promise<boolean> {
    const stdout = new MarkedStream(nonce);
    const chunks = this.#session[Symbol.asyncIterator]();
    while (stdout.word === undefined) {
      const next = await chunks.next();
      if (next.done || stdout.isEndless) return false;
      if (next.value.type === 'stdout-data') stdout.push(next.value.bytes);
    }
    stdout.flush();
    void this.#read(chunks, stdout.behind);
    return true;
  }

  async #read(chunks: AsyncIterator<OutputChunk>, early: readonly Uint8Array[]): Promise<void> {
    try {
      for (const bytes of early) this.#receive(bytes);
      for (let next = await chunks.next(); !next.done; next = await chunks.next())
        if (next.value.type === 'stdout-data') this.#receive(next.value.bytes);
    } catch {
      // The session is gone, whatever ended it.
    }
    this.#lose();
    await closeQuietly(this.#transport);
  }

  #receive(chunk: Uint8Array): void {
    let bytes = this.#rest.length === 0 ? chunk : joinBytes([this.#rest, chunk]);
    for (;;) {
      if (bytes.length < HEADER_BYTES) break;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const length = view.getUint32(5);
      // Nothing of ours is larger: it is no far end of ours.
      if (length > MUX_FRAME_BYTES) throw gone();
      if (bytes.length < HEADER_BYTES + length) break;
      const program = this.#programs.get(view.getUint32(1));
      const isKept = program?.receive(
        String.fromCharCode(bytes[0] ?? 0),
        bytes.slice(HEADER_BYTES, HEADER_BYTES + length),
      );
      if (isKept === false) throw gone();
      bytes = bytes.subarray(HEADER_BYTES + length);
    }
    this.#rest = bytes.slice();
  }

  #lose(): void {
    this.#isGone = true;
    for (const program of this.#programs.values()) program.lose();
    this.#programs.clear();
  }
}

/** A shell that the far end has started, with what it became. */
class MuxProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  /** Resolves when nothing more is heard of it. */
  readonly over: Promise<void>;
  readonly #send: (letter: Letter, bytes: Uint8Array) => Promise<void>;
  readonly #chunks: OutputChunk[] = [];
  #resolveExit: (status: ExitStatus) => void = () => {};
  #rejectExit: (error: Error) => void = () => {};
  #isOver: () => void = () => {};
  #hasExited = false;
  #hasClosed = false;
  #isStdinClosed = false;
  #isLost = false;
  #flying = 0;
  #unreadBytes = 0;
  #wakeReader = () => {};
  #wakeWriter = () => {};

  constructor(send: (letter: Letter, bytes: Uint8Array) => Promise<void>) {
    this.#send = send;
    this.exit = new Promise((resolve, reject) => {
      this.#resolveExit = resolve;
      this.#rejectExit = reject;
    });
    this.exit.catch(() => {}); // whoever waits for it is told
    this.over = new Promise((resolve) => {
      this.#isOver = resolve;
    });
  }

  /** @returns `false` when the far end sends more than it may: it would fill the memory of this program */
  receive(letter: string, bytes: Uint8Array): boolean {
    const numbers = () => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // Nothing of ours sends output without a byte, of which any number would fit.
    if ((letter === 'o' || letter === 'e') && bytes.length === 0) return false;
    if (letter === 'o') this.#push({ type: 'stdout-data', bytes });
    else if (letter === 'e') this.#push({ type: 'stderr-data', bytes });
    else if (letter === 'w' && bytes.length === 4) {
      this.#flying -= numbers().getUint32(0);
      this.#wakeWriter();
    } else if (letter === 'x' && bytes.length === 8) {
      this.#hasExited = true;
      const [code, signal] = [numbers().getUint32(0) & 0xff, numbers().getUint32(4) & 0x7f];
      this.#resolveExit(signal === 0 ? { code } : exitStatusOf(128 + signal));
      this.#wakeWriter();
    } else if (letter === 'c') {
      this.#hasClosed = true;
      this.#wakeReader();
    }
    if (this.#hasExited && this.#hasClosed) this.#isOver();
    return this.#unreadBytes <= 2 * MUX_WINDOW_BYTES;
  }

  /** Nothing more comes, and it is not known how it ended. */
  lose(): void {
    this.#isLost = true;
    this.#hasClosed = true;
    this.#rejectExit(gone());
    this.#wakeReader();
    this.#wakeWriter();
    this.#isOver();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#unreadBytes -= chunk.bytes.length;
        void this.#send('A', number(chunk.bytes.length));
        yield chunk;
      } else if (this.#hasClosed) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
      }
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += MUX_FRAME_BYTES) {
      while (this.#flying >= MUX_WINDOW_BYTES && !this.#cannotTake())
        await new Promise<void>((resolve) => {
          this.#wakeWriter = resolve;
        });
      if (this.#cannotTake()) return;
      const piece = bytes.subarray(at, at + MUX_FRAME_BYTES);
      this.#flying += piece.length;
      await this.#send('W', piece);
    }
  }

  async closeStdin(): Promise<void> {
    if (this.#cannotTake()) return;
    this.#isStdinClosed = true;
    await this.#send('E', new Uint8Array());
  }

  async kill(): Promise<void> {
    throw new LitterboxError('UNSUPPORTED', 'A session takes no signals.', { operation: 'process.kill' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isLost) return;
    this.#hasClosed = true;
    this.#chunks.length = 0;
    this.#unreadBytes = 0;
    this.#wakeReader();
    await this.#send('C', new Uint8Array());
  }

  #cannotTake(): boolean {
    return this.#isLost || this.#isStdinClosed || (this.#hasExited && this.#hasClosed);
  }

  #push(chunk: OutputChunk): void {
    // Of one that was disposed nobody takes anything, and the far end goes on with the others.
    if (this.#hasClosed) return void this.#send('A', number(chunk.bytes.length));
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.bytes.length;
    this.#wakeReader();
  }
}

function number(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function gone(): LitterboxError {
  return connectionLost('The connection to the machine is lost.', {
    operation: 'host.connect',
    hint: 'Check whether the machine is up and can be reached, then try again.',
  });
}
