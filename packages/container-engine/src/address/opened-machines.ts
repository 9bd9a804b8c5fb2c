import { type CallOptions, type Host, untilAborted } from '@litterbox/core/provider';
import type { MachineLogin, OpenMachine } from './open-machine.ts';

/** Machines that engines are on. Each is logged in at once, whoever asks, and until this is disposed; it may be used again after that. */
export class OpenedMachines implements AsyncDisposable {
  readonly #opening = new Map<string, Promise<Host>>();
  #over = new AbortController();

  /** A caller that gives up ends nothing for others. @throws LitterboxError what `open` throws */
  async get(login: MachineLogin, open: OpenMachine, options?: CallOptions): Promise<Host> {
    options?.signal?.throwIfAborted();
    const name = `${login.destination}\n${login.identityFile ?? ''}`;
    const opening = this.#opening.get(name) ?? open(login, { signal: this.#over.signal });
    this.#opening.set(name, opening);
    opening.catch(() => {
      if (this.#opening.get(name) === opening) this.#opening.delete(name);
    });
    return await untilAborted(opening, options?.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const machines = [...this.#opening.values()];
    this.#opening.clear();
    this.#over.abort(new Error('The engine is not asked any more.'));
    this.#over = new AbortController();
    await Promise.all(
      machines.map((opening) =>
        opening.then(
          (machine) => machine[Symbol.asyncDispose](),
          () => {},
        ),
      ),
    );
  }
}
