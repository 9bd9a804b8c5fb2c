import type { WebSocket } from 'ws';

/** After so much silence it is dead. */
const BEAT_MS = 15_000;

/** Ends a websocket whose other end does not answer any more: nobody else would notice. */
export function keepAlive(socket: WebSocket): void {
  let isAnswered = true;
  const beat = setInterval(() => {
    // While we do not read, its answers wait behind what it sent.
    if (!isAnswered && !socket.isPaused) return socket.terminate();
    isAnswered = false;
    socket.ping(() => {});
  }, BEAT_MS);
  beat.unref();
  const hear = () => {
    isAnswered = true;
  };
  socket.on('pong', hear);
  socket.on('message', hear);
  socket.once('close', () => clearInterval(beat));
}
