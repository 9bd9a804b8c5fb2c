import type { Host } from '@litterbox/core/provider';
import { ServedProgram } from './served-program.ts';

/** A spare that nobody takes for so long, in milliseconds, is ended: it keeps Node from ending by itself. */
const KEPT_MS = 3000;
/** How long after the answer it is started, in milliseconds: what the client asks next is not to wait for it either. */
const BEHIND_MS = 100;

/** A client that made fewer sandboxes seldom makes another soon. */
const MADE_BEFORE = 3;

/**
 * The session program, started ahead: the next create does not wait for its start. That takes Node 15 to 25 ms, and more where it holds much memory,
 * during which the client does nothing else.
 */
export class SpareProgram implements AsyncDisposable {
  readonly #host: Host;
  #spare: { readonly path: string; readonly served: ServedProgram; readonly ending: NodeJS.Timeout } | undefined;
  #taken = 0;
  #starting: NodeJS.Timeout | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The spare where there is one, else another. @param path absolute path of the session program on the host */
  take(path: string): ServedProgram {
    this.#taken += 1;
    const spare = this.#spare;
    if (spare === undefined) return new ServedProgram(this.#host, path);
    this.#spare = undefined;
    clearTimeout(spare.ending);
    if (spare.path === path && !spare.served.isOver) return spare.served;
    void spare.served[Symbol.asyncDispose]();
    return new ServedProgram(this.#host, path);
  }

  /** Starts the next one behind the answer. On another machine it would hold one of the few channels of a connection. */
  prepare(path: string): void {
    if (this.#host.pipes === undefined || this.#taken < MADE_BEFORE) return;
    clearTimeout(this.#starting);
    this.#starting = setTimeout(() => {
      if (this.#spare !== undefined) return;
      const ending = setTimeout(() => void this.#end(), KEPT_MS);
      this.#spare = { path, served: new ServedProgram(this.#host, path), ending };
    }, BEHIND_MS).unref();
  }

  async #end(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    clearTimeout(spare?.ending);
    await spare?.served[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#starting);
    await this.#end();
  }
}
