import type { CallOptions, ProcessHandle } from '@litterbox/core/provider';
import type { ShellTransport } from '@litterbox/far-host';
import { MachineShell } from './machine-shell.ts';
import type { Service } from './service.ts';

/** The way to a machine: commands of the service. One or two of them carry everything. */
export class MachineShells implements ShellTransport {
  readonly ended: Promise<string>;
  readonly #service: Service;
  readonly #machine: string;
  readonly #shells = new Set<MachineShell>();
  #end: (reason: string) => void = () => {};

  constructor(service: Service, machine: string) {
    this.#service = service;
    this.#machine = machine;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(command: string, call?: CallOptions): Promise<ProcessHandle> {
    const shell = new MachineShell(await this.#service.exec(this.#machine, call), command);
    this.#shells.add(shell);
    const forget = () => this.#shells.delete(shell);
    void shell.exit.then(forget, forget);
    return shell;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end('it was closed');
    await Promise.all([...this.#shells].map((shell) => shell[Symbol.asyncDispose]()));
  }
}
