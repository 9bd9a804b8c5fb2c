import type { OpenedState, StateFixture } from '@litterbox/conformance';
import { memoryAudit, memoryState, realClock, StateShelf } from '../src/index.ts';

/** A shelf that any number of programs open. */
export class MemoryFixture implements StateFixture {
  readonly #shelf = new StateShelf();
  readonly #opened: OpenedState[] = [];

  open(): OpenedState {
    const owner = { isAlive: true };
    const opened = {
      state: memoryState(this.#shelf, realClock, owner),
      audit: memoryAudit(this.#shelf, realClock, owner),
    };
    this.#opened.push(opened);
    return opened;
  }

  async close(): Promise<void> {
    for (const { state } of this.#opened.splice(0)) await state[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
