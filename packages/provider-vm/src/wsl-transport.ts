import type { CallOptions, ProcessHandle } from '@litterbox/core/provider';
import type { ShellTransport } from '@litterbox/far-host';
import type { VmProgram } from './vm-program.ts';

/**
 * Shells of one distribution, each by a `wsl.exe` of its own. With `--exec` the rest of its command line is split by the rules by which Node puts one
 * together, and no shell of Windows or of the distribution reads it.
 *
 * @see https://github.com/microsoft/WSL/blob/master/src/windows/common/WslClient.cpp `WslMain`: CommandLineToArgvW
 */
export class WslTransport implements ShellTransport {
  readonly ended: Promise<string>;
  readonly #wsl: VmProgram;
  readonly #distribution: string;
  readonly #shells = new Set<ProcessHandle>();
  #end: (reason: string) => void = () => {};

  constructor(wsl: VmProgram, distribution: string) {
    this.#wsl = wsl;
    this.#distribution = distribution;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(commandLine: string, options?: CallOptions): Promise<ProcessHandle> {
    options?.signal?.throwIfAborted();
    const args = ['--distribution', this.#distribution, '--exec', '/bin/sh', '-c', commandLine];
    // The caller's signal is for the start: what was started is the line's to end.
    const shell = await this.#wsl.start(args, undefined, 'pipe');
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
