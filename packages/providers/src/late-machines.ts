import type { Host } from '@litterbox/core/provider';
import type { Machines } from '@litterbox/provider-vm';

/** The virtual machines of this computer, loaded when somebody asks for one. */
export class LateMachines {
  readonly #here: Host;
  #loading: Promise<Machines> | undefined;

  constructor(here: Host) {
    this.#here = here;
  }

  async load(): Promise<Machines> {
    this.#loading ??= import('@litterbox/provider-vm').then((found) => new found.Machines(this.#here));
    return await this.#loading;
  }
}
