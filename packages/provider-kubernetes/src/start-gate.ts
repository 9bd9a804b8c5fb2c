/**
 * Nodes were seen that answer none of sixty programs for half a minute which are started in one container at once, and all of them when eight
 * begin at a time (containerd 1.6, kubelet 1.20).
 */
const MOST_AT_ONCE = 8;

/** Lets few programs of a container begin at the same time. */
export class StartGate {
  #beginning = 0;
  readonly #waiting: (() => void)[] = [];

  /** Calls `start` when its turn has come; its turn ends when that settles. */
  async through<Program>(start: () => Promise<Program>): Promise<Program> {
    while (this.#beginning >= MOST_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#beginning += 1;
    try {
      return await start();
    } finally {
      this.#beginning -= 1;
      this.#waiting.shift()?.();
    }
  }
}
