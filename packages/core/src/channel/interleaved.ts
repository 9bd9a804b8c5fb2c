import type { OutputSource } from '../ports/common/output-source.ts';
import type { OutputChunk } from '../ports/common/process.ts';

/**
 * Both outputs of a program as they come, each held back while the reader is busy, until both have ended.
 *
 * @param how when a stream has ended: with its last byte, or later, when what it reads from is let go; and what to do once at the end, also when
 *   the reader leaves early: what is still to come is nobody's
 */
export async function* interleaved(
  stdout: OutputSource,
  stderr: OutputSource,
  how: { readonly endsBy: 'end' | 'close'; leave(): void },
): AsyncGenerator<OutputChunk, void, undefined> {
  const queue: OutputChunk[] = [];
  const open = new Set<OutputSource>([stdout, stderr]);
  let wake = () => {};
  const attach = (source: OutputSource, type: OutputChunk['type']) => {
    source.on('data', (bytes) => {
      queue.push({ type, bytes });
      source.pause();
      wake();
    });
    const ended = () => {
      open.delete(source);
      wake();
    };
    const isOver = how.endsBy === 'close' ? source.closed : source.readableEnded || source.destroyed;
    if (isOver) ended();
    if (how.endsBy === 'end') source.once('end', ended);
    source.once('close', ended); // a stream that is cut has no end
  };
  attach(stdout, 'stdout-data');
  attach(stderr, 'stderr-data');
  try {
    while (open.size > 0 || queue.length > 0) {
      const chunk = queue.shift();
      if (chunk) {
        yield chunk;
        (chunk.type === 'stdout-data' ? stdout : stderr).resume();
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    how.leave();
  }
}
