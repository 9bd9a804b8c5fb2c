import { createServer, connect, type Server, type Socket } from 'node:net';
import type { Door } from './ssh-machine.ts';

/** What a line does to the bytes on it. */
export interface LineOptions {
  /** How late each byte arrives, in milliseconds, in either direction. @defaultValue 0 */
  readonly delayMs?: number;
  /** How many bytes a second pass in either direction. @defaultValue as many as there are */
  readonly bytesPerSecond?: number;
}

/** So much may be on its way in one direction: more is not read. */
const MAX_FLYING_BYTES = 4 * 2 ** 20;

/** A line to a server, which begins at a port of loopback: in place of a network that a kernel without `netem` cannot make slow. */
export class Line implements AsyncDisposable, Door {
  readonly address = '127.0.0.1';
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  readonly #options: LineOptions;
  /** After so many bytes to the server every connection is cut. */
  #cutAfterBytes = Number.POSITIVE_INFINITY;
  #isStalled = false;

  private constructor(server: Server, port: number, options: LineOptions) {
    this.#server = server;
    this.port = port;
    this.#options = options;
  }

  /** @param to the server */
  static async start(to: Door, options: LineOptions = {}): Promise<Line> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('The line has no port.');
    const line = new Line(server, address.port, options);
    server.on('connection', (near) => {
      const far = connect({ host: to.address, port: to.port, allowHalfOpen: true, noDelay: true });
      line.#carry(near, far, (bytes) => line.#count(bytes));
      line.#carry(far, near, () => {});
    });
    return line;
  }

  /** From now on nothing arrives on either side, and nobody is told: half-open for both. */
  stall(): void {
    this.#isStalled = true;
  }

  /** What was held back arrives. */
  flow(): void {
    this.#isStalled = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Cuts every connection now. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts every connection once so many more bytes went to the server. */
  cutAfter(bytes: number): void {
    this.#cutAfterBytes = bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.flow();
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #count(bytes: number): void {
    this.#cutAfterBytes -= bytes;
    if (this.#cutAfterBytes > 0) return;
    this.#cutAfterBytes = Number.POSITIVE_INFINITY;
    this.cut();
  }

  #carry(from: Socket, to: Socket, passed: (bytes: number) => void): void {
    const { delayMs = 0, bytesPerSecond } = this.#options;
    this.#sockets.add(from);
    let flying = 0;
    let freeAtMs = 0;
    let last: Promise<void> = Promise.resolve();
    const later = (bytes: number, act: () => void) => {
      const nowMs = performance.now();
      freeAtMs = Math.max(freeAtMs, nowMs) + (bytesPerSecond ? (bytes * 1000) / bytesPerSecond : 0);
      const arrivesMs = freeAtMs + delayMs;
      last = last.then(async () => {
        const waitMs = arrivesMs - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        while (this.#isStalled) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        act();
      });
    };
    from.on('data', (bytes: Buffer) => {
      flying += bytes.length;
      if (flying > MAX_FLYING_BYTES) from.pause();
      later(bytes.length, () => {
        flying -= bytes.length;
        if (flying <= MAX_FLYING_BYTES) from.resume();
        if (!to.destroyed) to.write(bytes);
        passed(bytes.length);
      });
    });
    from.on('end', () => later(0, () => to.end()));
    from.on('error', () => {}); // its end is told by `close`
    from.on('close', (hadError) => {
      this.#sockets.delete(from);
      if (hadError || !from.readableEnded) later(0, () => to.destroy());
    });
  }
}
