import type { AttachedProcess, OutputChunk } from 'litterbox';
import { passedOn } from '../passed-on.ts';

/** Output of each process that is kept for who reads it or comes back; as much as Codex's own server keeps. */
const KEPT_BYTES = 2 ** 20;
/** A message holds at most so much output. */
const CHUNK_BYTES = 2 ** 16;
const KEPT_WRITES = 256;

/** What is told of a process, in order. */
export type ProcessEvent =
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr' | 'pty'; readonly bytes: Uint8Array }
  | { readonly type: 'exited'; readonly exitCode: number }
  | { readonly type: 'closed' };

export type Told = ProcessEvent & { readonly sequence: number };

/** What a process has to tell to who asks. */
export interface ProcessReading {
  readonly chunks: readonly (Told & { readonly type: 'output' })[];
  readonly nextSequence: number;
  readonly exitCode: number | undefined;
  readonly isClosed: boolean;
  readonly failure: string | undefined;
}

/** A program in the sandbox that one client started: its output in numbered pieces, live and again. */
export class ServedProcess {
  readonly #attached: AttachedProcess;
  readonly #stdin: 'open' | 'none';
  readonly #stream: 'pty' | undefined;
  readonly #tell: (told: Told) => Promise<void>;
  readonly #kept: (Told & { readonly type: 'output' })[] = [];
  readonly #writes = new Set<string>();
  #keptBytes = 0;
  #sequence = 0;
  #exitCode: number | undefined;
  #isClosed = false;
  #isOver = false;
  #failure: string | undefined;
  #writing: Promise<void> = Promise.resolve();
  #changed = Promise.withResolvers<void>();
  /** Resolves when all is told, and what the program changed is recorded. */
  readonly ended: Promise<void>;

  constructor(
    attached: AttachedProcess,
    { isTerminal, hasInput, tell }: { isTerminal: boolean; hasInput: boolean; tell: (told: Told) => Promise<void> },
  ) {
    this.#attached = attached;
    this.#stream = isTerminal ? 'pty' : undefined;
    this.#stdin = hasInput ? 'open' : 'none';
    this.#tell = tell;
    this.ended = this.#follow().catch((error: unknown) => {
      this.#failure ??= text(error);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What it left in the background has ended too. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get hasExited(): boolean {
    return this.#exitCode !== undefined;
  }

  /** @param id a write that is repeated, because its answer was lost, is made once */
  async write(bytes: Uint8Array, id?: string): Promise<'accepted' | 'stdinClosed'> {
    if (this.#stdin === 'none' || this.hasExited) return 'stdinClosed';
    if (id !== undefined && this.#writes.has(id)) return 'accepted';
    if (id !== undefined) this.#writes.add(id);
    if (this.#writes.size > KEPT_WRITES) this.#writes.delete([...this.#writes][0] ?? '');
    this.#writing = this.#writing.then(async () => await this.#attached.process.write(bytes));
    await this.#writing;
    return 'accepted';
  }

  async interrupt(): Promise<void> {
    await this.#attached.process.kill('SIGINT');
  }

  /** Ends it with all that it started. Resolves with whether there was something to end. */
  async terminate(): Promise<boolean> {
    const wasRunning = !this.hasExited;
    await this.#attached.process[Symbol.asyncDispose]();
    return wasRunning;
  }

  /** @param waitMs how long to wait for something to tell */
  async read(afterSequence: number, maxBytes: number, waitMs: number): Promise<ProcessReading> {
    const news = () => this.#kept.filter(({ sequence }) => sequence > afterSequence);
    if (waitMs > 0 && news().length === 0 && !this.#isClosed) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, waitMs);
      });
      await Promise.race([this.#changed.promise, patience]);
      clearTimeout(timer);
    }
    const chunks: (Told & { readonly type: 'output' })[] = [];
    let bytes = 0;
    for (const chunk of news()) {
      bytes += chunk.bytes.length;
      if (chunks.length > 0 && bytes > maxBytes) break;
      chunks.push(chunk);
    }
    return {
      chunks,
      nextSequence: (chunks.at(-1)?.sequence ?? Math.max(afterSequence, this.#sequence)) + 1,
      exitCode: this.#exitCode,
      isClosed: this.#isClosed,
      failure: this.#failure,
    };
  }

  async #follow(): Promise<void> {
    try {
      const { exit, silent } = await passedOn(this.#attached.process, async (chunk) => await this.#pass(chunk));
      await this.#attached.finish(exit).catch((error: unknown) => {
        this.#failure = `What it changed is not recorded: ${text(error)}`;
      });
      await this.#told({ type: 'exited', exitCode: exit.code });
      // What it left in the background may hold its output for ever: Codex takes it for a program that still runs until it is closed.
      await this.#told({ type: 'closed' });
      await silent;
    } catch (error) {
      this.#failure = text(error);
      if (!this.hasExited) await this.#told({ type: 'exited', exitCode: 1 });
      if (!this.isClosed) await this.#told({ type: 'closed' });
    } finally {
      this.#isOver = true;
      await this.#attached[Symbol.asyncDispose]();
    }
  }

  /** Nobody asks any more what it printed. */
  forget(): void {
    this.#kept.length = 0;
    this.#keptBytes = 0;
  }

  async #pass({ type, bytes }: OutputChunk): Promise<void> {
    const stream = this.#stream ?? (type === 'stdout-data' ? 'stdout' : 'stderr');
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      await this.#told({ type: 'output', stream, bytes: bytes.slice(at, at + CHUNK_BYTES) });
  }

  async #told(event: ProcessEvent): Promise<void> {
    if (this.#isClosed) return;
    this.#sequence += 1;
    const told = { ...event, sequence: this.#sequence };
    if (told.type === 'output') {
      this.#kept.push(told);
      this.#keptBytes += told.bytes.length;
      while (this.#keptBytes > KEPT_BYTES && this.#kept.length > 1)
        this.#keptBytes -= this.#kept.shift()?.bytes.length ?? 0;
    } else if (told.type === 'exited') this.#exitCode = told.exitCode;
    else this.#isClosed = true;
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
    await this.#tell(told);
  }
}

const text = (error: unknown) => (error instanceof Error ? error.message : String(error));
