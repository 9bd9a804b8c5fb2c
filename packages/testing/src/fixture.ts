/**
 * What a test stands on. Whatever was begun with it ends with it, the last first, and the rest also when one of the ends fails: nothing
 * is left for the next test to meet.
 */
export class Fixture implements AsyncDisposable {
  readonly #ends = new AsyncDisposableStack();

  /** Closes it at the end. @returns what was given */
  use<One extends AsyncDisposable | Disposable>(one: One): One {
    return this.#ends.use(one);
  }

  /** Called at the end. */
  defer(end: () => void | PromiseLike<void>): void {
    this.#ends.defer(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }
}
