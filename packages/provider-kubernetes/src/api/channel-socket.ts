import type { WebSocket } from 'ws';

/** Bytes that nobody has read yet; beyond, the socket is not read any more. */
const MAX_UNREAD_BYTES = 2 ** 20;
/** A message carries no more, so that several directions share the line. */
const MAX_MESSAGE_BYTES = 32 * 2 ** 10;

/** One message of the other end: its first byte says what it is about. */
export interface ChannelMessage {
  readonly channel: number;
  readonly bytes: Buffer;
}

/**
 * The messages of a websocket of the cluster's API, with back-pressure both ways: each begins with the number of a channel. Ends when the socket
 * does, however that was.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/ and apimachinery `pkg/util/remotecommand/constants.go`
 */
export class ChannelSocket implements AsyncIterable<ChannelMessage> {
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #unread: ChannelMessage[] = [];
  #unreadBytes = 0;
  #isOver = false;
  #wake = () => {};

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('message', (data: Buffer | ArrayBuffer | Buffer[]) => {
      const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
      if (bytes.length < 2) return; // the beginning of each channel is told by an empty message
      this.#unread.push({ channel: bytes[0] ?? 0, bytes: bytes.subarray(1) });
      this.#unreadBytes += bytes.length;
      if (this.#unreadBytes > MAX_UNREAD_BYTES) socket.pause();
      this.#wake();
    });
    socket.once('close', () => {
      this.#isOver = true;
      this.#wake();
    });
    if (socket.readyState === socket.CLOSED) this.#isOver = true;
  }

  /** The protocol that the server chose. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChannelMessage, void, undefined> {
    for (;;) {
      const next = this.#unread.shift();
      if (next) {
        this.#unreadBytes -= next.bytes.length + 1;
        if (this.#unreadBytes < MAX_UNREAD_BYTES / 2 && this.#socket.isPaused) this.#socket.resume();
        yield next;
      } else if (this.#isOver) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  /** Resolves when the line has taken the bytes, or takes none any more. */
  async send(channel: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.isOpen; at += MAX_MESSAGE_BYTES) {
      const piece = bytes.subarray(at, at + MAX_MESSAGE_BYTES);
      const message = Buffer.allocUnsafe(piece.length + 1);
      message[0] = channel;
      message.set(piece, 1);
      const sent = new Promise<void>((resolve) => {
        this.#socket.send(message, () => resolve());
      });
      await Promise.race([sent, this.closed]);
    }
  }

  destroy(): void {
    this.#socket.terminate();
  }
}
