import { Transform } from 'node:stream';

/** An answer that holds the secret of its endpoint. */
export class LeakedSecret extends Error {
  constructor() {
    super('the answer holds the secret');
  }
}

/**
 * Lets bytes through that do not hold the secret, and fails at those that do. What might be its beginning waits for the next bytes,
 * nothing else does.
 */
export function leakGuard(secret: string): Transform {
  const wanted = Buffer.from(secret, 'latin1');
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (bytes.includes(wanted)) return done(new LeakedSecret());
      const end = bytes.length - beginningAtEnd(bytes, wanted);
      held = bytes.subarray(end);
      done(null, end > 0 ? bytes.subarray(0, end) : undefined);
    },
    flush(done) {
      done(null, held.length > 0 ? held : undefined);
    },
  });
}

/** How many of the last bytes are the first of the wanted ones. */
function beginningAtEnd(bytes: Buffer, wanted: Buffer): number {
  const first = wanted[0] ?? 0;
  for (let at = Math.max(0, bytes.length - wanted.length + 1); at < bytes.length; at += 1) {
    at = bytes.indexOf(first, at);
    if (at === -1) return 0;
    const length = bytes.length - at;
    if (bytes.compare(wanted, 0, length, at) === 0) return length;
  }
  return 0;
}
