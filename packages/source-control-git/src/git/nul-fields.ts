import type { ByteString } from './byte-text.ts';

/** Fields that end with NUL, as git's `-z` prints them: those that each chunk completes, so that no more than a chunk is held. */
export async function* nulFields(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<readonly ByteString[], void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const fields: ByteString[] = [];
    let at = 0;
    for (let end = buffer.indexOf(0, at); end >= 0; end = buffer.indexOf(0, at)) {
      fields.push(buffer.toString('latin1', at, end));
      at = end + 1;
    }
    rest = buffer.subarray(at);
    if (fields.length > 0) yield fields;
  }
}
