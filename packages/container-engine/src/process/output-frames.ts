import type { Duplex } from 'node:stream';
import { type OutputChunk } from '@litterbox/core/provider';

const HEADER_BYTES = 8;
/** An engine's frame is what it read from a pipe at once; more than this did not come from one. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;

/**
 * The output of a process without a terminal, frame by frame: one byte stream (1 stdout, 2 stderr), three unused, four of length,
 * then so many bytes. Written here because the client library's own splitter knows no back-pressure.
 *
 * @see https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
 */
export async function* outputFrames(stream: Duplex): AsyncGenerator<OutputChunk, void, undefined> {
  const header = Buffer.alloc(HEADER_BYTES);
  let known = 0;
  let left = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      if (known < HEADER_BYTES) {
        const taken = chunk.copy(header, known, at, at + HEADER_BYTES - known);
        known += taken;
        at += taken;
        if (known === HEADER_BYTES) left = header.readUInt32BE(4);
        if (left > MAX_FRAME_BYTES) throw new Error(`a frame of ${left} bytes`);
      } else {
        const bytes = chunk.subarray(at, at + left);
        at += bytes.length;
        left -= bytes.length;
        yield { type: header[0] === 2 ? 'stderr-data' : 'stdout-data', bytes };
      }
      if (known === HEADER_BYTES && left === 0) known = 0;
    }
  }
}
