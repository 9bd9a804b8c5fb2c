import { encodeRaw, type ProcessHandle } from '@litterbox/core/provider';
import { NulSplitter } from './nul-splitter.ts';
import { ScanBound, tooManyChanges } from './scan-bound.ts';

/** How long nobody asks before it ends. Starting it again is hidden behind the command that is run. */
const IDLE_MS = 30_000;
/** How long an answer may take: far beyond what the largest workspace takes to look through. */
const ANSWER_MS = 600_000;
/** Contents told in one walk, in bytes: beyond, an archive is made of what is wanted. */
export const MAX_CONTENT_BYTES = 64 * 1024;
/** A content with its mark before it; each of its bytes may take two. */
const MAX_TEXT_BYTES = 2 * MAX_CONTENT_BYTES + 1;

/**
 * Starts a resident program, or gives undefined where there is none. It begins with these requests, each without its end, so that they do not wait
 * for the start.
 */
export type StartResident = (first: readonly string[]) => Promise<ProcessHandle | undefined>;

/**
 * A program that stays and answers: requests and the texts of answers end with NUL, and the last text of each answer is `E`. It is started
 * when it is needed, ended when nobody has asked for a while, and asked by one caller at a time.
 */
export class ResidentProgram implements AsyncDisposable {
  readonly #start: StartResident;
  readonly #idleMs: number;
  readonly #answerMs: number;
  #starting: Promise<Talk | undefined> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param start starts it
   * @param idleMs how long it stays without being asked
   * @param answerMs after how long one that says nothing is given up
   */
  constructor(start: StartResident, idleMs = IDLE_MS, answerMs = ANSWER_MS) {
    this.#start = start;
    this.#idleMs = idleMs;
    this.#answerMs = answerMs;
  }

  /** Starts it ahead of the first request. @returns whether there is one */
  async warm(): Promise<boolean> {
    this.#rest();
    return (await this.#talk()) !== undefined;
  }

  /**
   * The texts of all answers, without their ends; undefined where there is no such program.
   *
   * @throws Error where it gives no whole answer, for whatever reason: it has been ended then
   * @throws LitterboxError `SNAPSHOT_FAILED` where it tells more than is held
   */
  async ask(requests: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    this.#waiting += 1;
    const before = this.#turn;
    const asking = (async () => {
      await before;
      signal?.throwIfAborted();
      return await this.#askNow(requests, signal);
    })();
    this.#turn = asking.catch(() => {});
    try {
      return await asking;
    } finally {
      this.#waiting -= 1;
      this.#rest();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #askNow(requests: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    clearTimeout(this.#idle);
    try {
      const isNew = this.#starting === undefined;
      const talking = this.#talk(isNew ? requests : []);
      const asking = talking.then((talk) => (isNew ? talk?.first : talk?.ask(requests)));
      return await this.#inTime(asking, signal);
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  /** A program that stands still, as one of a machine that sends what it likes, is not waited for. */
  async #inTime<Answer>(asking: Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let abort: (() => void) | undefined;
    const given = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('it says nothing')), this.#answerMs);
      abort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', abort, { once: true });
    });
    try {
      return await Promise.race([asking, given]);
    } finally {
      clearTimeout(timer);
      if (abort) signal?.removeEventListener('abort', abort);
    }
  }

  /** @param first what it is asked at once, where it is not there yet */
  #talk(first: readonly string[] = []): Promise<Talk | undefined> {
    this.#starting ??= this.#start(first).then((process) => process && new Talk(process, first.length));
    return this.#starting;
  }

  /** A sandbox whose agent thinks, or has gone, does without. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#waiting === 0) void this.#end();
    }, this.#idleMs);
    (this.#idle as { unref?(): void }).unref?.(); // a program that has nothing else to do ends
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const starting = this.#starting;
    this.#starting = undefined;
    await (await starting?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}

/** The talk with one process. */
class Talk implements AsyncDisposable {
  /** What it says to the requests with which it was started. */
  readonly first: Promise<readonly string[]>;
  readonly #process: ProcessHandle;
  readonly #over: Promise<never>;
  #texts: string[] = [];
  #bound = new ScanBound();
  #missing = 0;
  #onAnswer: ((texts: readonly string[]) => void) | undefined;

  constructor(process: ProcessHandle, asked: number) {
    this.#process = process;
    this.#over = this.#read();
    this.#over.catch(() => {}); // who asks is told
    this.first = this.#answers(asked);
    this.first.catch(() => {});
  }

  async ask(requests: readonly string[]): Promise<readonly string[]> {
    const answers = this.#answers(requests.length);
    // Written beside the reading: it answers the first request before it has read the last.
    const writing = this.#process.write(encodeRaw(requests.map((request) => `${request}\0`).join('')));
    writing.catch(() => {}); // one that has ended ends the reading too
    return await answers;
  }

  async #answers(count: number): Promise<readonly string[]> {
    if (count === 0) return [];
    this.#texts = [];
    this.#bound = new ScanBound();
    this.#missing = count;
    const answer = new Promise<readonly string[]>((resolve) => {
      this.#onAnswer = resolve;
    });
    return await Promise.race([answer, this.#over]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }

  #take(text: string): void {
    if (text !== 'E') {
      if (this.#bound.take(text)) this.#texts.push(text);
      return;
    }
    this.#missing -= 1;
    if (this.#missing === 0) this.#onAnswer?.(this.#texts);
  }

  /** Rejects when nothing more is to be expected of it. */
  async #read(): Promise<never> {
    const splitter = new NulSplitter((text) => this.#take(text), 0, MAX_TEXT_BYTES);
    for await (const { type, bytes } of this.#process) {
      if (type === 'stdout-data') splitter.push(bytes);
      if (!this.#bound.isKept) throw tooManyChanges();
      if (splitter.isOverlong) break;
    }
    throw new Error('it has ended');
  }
}
