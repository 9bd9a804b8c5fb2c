import type { Socket } from 'node:net';

/** Copies both ways until both have ended, with no more in memory than the buffers of two sockets. Each direction ends by itself. */
export function joinSockets(left: Socket, right: Socket): void {
  const copy = (from: Socket, to: Socket) => {
    from.setNoDelay(true);
    from.pipe(to);
    // One that is gone before it ended takes the other one with it, and says so the same way.
    from.once('close', (hadError) => {
      if (to.destroyed || (from.readableEnded && !hadError)) return;
      if (hadError) to.resetAndDestroy();
      else to.destroy();
    });
    from.on('error', () => {}); // `close` follows
  };
  copy(left, right);
  copy(right, left);
}
