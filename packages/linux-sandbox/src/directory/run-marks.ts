import type { CallOptions, Host } from '@litterbox/core/provider';
import { notRunning } from '@litterbox/sandbox-kit';

/** Files without content in a sandbox's directory: they keep commands out, whichever program wants to run one. */
const NAMES = { paused: 'paused', stopped: 'stopped' } as const;

/** Whether a person paused or stopped the sandbox in one directory, told by files that every program sees. */
export class RunMarks {
  readonly #provider: string;
  readonly #host: Host;
  readonly #directory: string;

  /** @param directory absolute path of the sandbox's directory on the host */
  constructor(provider: string, host: Host, directory: string) {
    this.#provider = provider;
    this.#host = host;
    this.#directory = directory;
  }

  async isSet(name: keyof typeof NAMES, options?: CallOptions): Promise<boolean> {
    return (await this.#host.files.stat(this.#path(name), options)) !== undefined;
  }

  /** Sets the mark. It is not aborted half way: what follows counts on it. */
  async set(name: keyof typeof NAMES): Promise<void> {
    await this.#host.files.write(this.#path(name), new Uint8Array());
  }

  async clear(name: keyof typeof NAMES, options?: CallOptions): Promise<void> {
    await this.#host.files.remove(this.#path(name), options);
  }

  /**
   * One look at the directory.
   *
   * @throws LitterboxError `SANDBOX_PAUSED` or `SANDBOX_STOPPED` where the sandbox must not run a program
   */
  async assertRunning(options?: CallOptions): Promise<void> {
    const entries = new Set((await this.#host.files.list(this.#directory, options))?.map(({ name }) => name));
    const isPaused = entries.has(NAMES.paused);
    if (!isPaused && !entries.has(NAMES.stopped)) return;
    throw notRunning(this.#provider, isPaused ? 'paused' : 'stopped');
  }

  #path(name: keyof typeof NAMES): string {
    return `${this.#directory}/${NAMES[name]}`;
  }
}
