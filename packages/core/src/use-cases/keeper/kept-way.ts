import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { OpenPort } from '../../ports/common/open-port.ts';

/** Whether a way out of a sandbox is open. */
export interface WayStatus {
  readonly state: 'open' | 'down';
  /** Why it is down. */
  readonly reason?: string;
}

/** A way out of a sandbox that is opened again whenever it ended, until it is disposed. */
export class KeptWay implements AsyncDisposable {
  readonly #open: (options: CallOptions) => Promise<OpenPort>;
  readonly #over = new AbortController();
  #way: OpenPort | undefined;
  #reason: string | undefined;
  #opening: Promise<void> | undefined;

  constructor(open: (options: CallOptions) => Promise<OpenPort>) {
    this.#open = open;
  }

  /** Never rejects: without it the rest goes on, and the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#openOnce().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  status(): WayStatus {
    return this.#way ? { state: 'open' } : { state: 'down', reason: this.#reason ?? 'it is being opened' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#opening;
    await this.#way?.[Symbol.asyncDispose]();
  }

  async #openOnce(): Promise<void> {
    const { signal } = this.#over;
    if (this.#way || signal.aborted) return;
    try {
      const way = await this.#open({ signal });
      this.#way = way;
      void way.ended.then(() => {
        this.#way = undefined;
        way[Symbol.asyncDispose]().then(undefined, () => {});
        void this.open(); // of the session that follows
      });
    } catch (error) {
      this.#reason = isLitterboxError(error) ? error.message : 'it could not be opened';
    }
  }
}
