import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds the connections over which nobody has shown the token yet. The oldest goes first: whoever opens them and says nothing loses
 * them, and keeps nobody out who says at once what they want.
 */
export class UnknownConnections {
  /** In the order in which they came. */
  readonly #open = new Set<Socket>();

  constructor(server: Server, max: number) {
    server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      const [oldest] = this.#open;
      if (this.#open.size > max) oldest?.destroy();
    });
  }

  /** To be called when a request with the token came over it. */
  know(socket: Socket): void {
    this.#open.delete(socket);
  }
}
