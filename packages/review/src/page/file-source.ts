import type { PatchFile, Sides, WholeFile } from './answers.ts';
import { type Server, wordsOf } from './server.ts';
import { WENT_ON } from './words.ts';

/** Contents of the files of one sandbox, when somebody looks at them. */
export class FileSource {
  readonly #server: Server;
  readonly #address: string;
  readonly #signal: AbortSignal;
  readonly #onTrouble: (words: string) => void;

  constructor(server: Server, address: string, signal: AbortSignal, onTrouble: (words: string) => void) {
    this.#server = server;
    this.#address = address;
    this.#signal = signal;
    this.#onTrouble = onTrouble;
  }

  async sides({ path, from }: PatchFile, tip: string | undefined): Promise<Sides> {
    return await this.#server.post<Sides>(`${this.#address}/sides`, { path, from, tip }, this.#signal);
  }

  /** All lines of it; undefined where they cannot be had, which it says. */
  async whole({ path, from, name }: PatchFile, tip: string | undefined): Promise<PatchFile | undefined> {
    try {
      const whole = await this.#server.post<WholeFile>(`${this.#address}/whole`, { path, from, tip }, this.#signal);
      if (whole.tip === tip) return whole.file;
      this.#onTrouble(WENT_ON);
    } catch (error) {
      if (!this.#signal.aborted) this.#onTrouble(`${name}: ${wordsOf(error)}`);
    }
    return undefined;
  }
}
