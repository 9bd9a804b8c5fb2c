import type { AttachedProcess } from 'litterbox';

/** An agent that said that it is done, and goes on, is ended after so long. */
const GRACE_MS = 3_000;

/** `after-end`: it said that it was done and went on, so that it was ended. */
export type EndedBy = 'itself' | 'after-end' | 'time-limit' | 'silence' | 'stop';

interface Limits {
  readonly timeLimitMs: number | undefined;
  readonly silenceMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Ends an agent that does not end by itself. */
export class AgentWatch implements Disposable {
  endedBy: EndedBy = 'itself';
  readonly #process: AsyncDisposable;
  readonly #signal: AbortSignal | undefined;
  readonly #timers = new Map<EndedBy, NodeJS.Timeout>();
  readonly #stop = () => this.#end('stop');

  constructor(process: AttachedProcess['process'], { timeLimitMs, silenceMs, signal }: Limits) {
    this.#process = process;
    this.#signal = signal;
    if (timeLimitMs !== undefined) this.#after(timeLimitMs, 'time-limit');
    if (silenceMs !== undefined) this.#after(silenceMs, 'silence');
    signal?.addEventListener('abort', this.#stop, { once: true });
    if (signal?.aborted) this.#stop();
  }

  /** It printed something. @param hasEnded whether it said that it is done */
  hear(hasEnded: boolean): void {
    this.#timers.get('silence')?.refresh();
    if (hasEnded && !this.#timers.has('after-end')) this.#after(GRACE_MS, 'after-end');
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#signal?.removeEventListener('abort', this.#stop);
  }

  #after(ms: number, why: EndedBy): void {
    this.#timers.set(
      why,
      setTimeout(() => this.#end(why), ms),
    );
  }

  #end(why: EndedBy): void {
    if (this.endedBy !== 'itself') return;
    this.endedBy = why;
    void this.#process[Symbol.asyncDispose]();
  }
}
