import { LitterboxError, type ObjectId } from '@litterbox/core/provider';
import type { Store } from './store.ts';

/** One call of git for all of them; each is in memory alone. */
export async function* readBlobs(
  store: Store,
  oids: readonly ObjectId[],
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly oid: ObjectId; readonly bytes: Buffer }, void, undefined> {
  if (oids.length === 0) return;
  let pieces: Buffer[] = []; // of a blob that is not whole: put together once
  let missingBytes = 0;
  let blob: { readonly oid: ObjectId; readonly size: number } | undefined;
  const output = store.stream(['cat-file', '--batch', '--buffer'], { input: `${oids.join('\n')}\n`, signal });
  for await (const chunk of output) {
    pieces.push(chunk);
    missingBytes -= chunk.length;
    if (missingBytes > 0) continue;
    let rest = pieces.length === 1 ? chunk : Buffer.concat(pieces);
    for (;;) {
      const newline = blob ? -1 : rest.indexOf(10);
      if (!blob && newline >= 0) {
        const [, oid, size] = /^([0-9a-f]+) blob ([0-9]+)$/.exec(rest.toString('latin1', 0, newline)) ?? [];
        if (oid === undefined) throw missing(rest.toString('latin1', 0, newline));
        blob = { oid: oid as ObjectId, size: Number(size) };
        rest = rest.subarray(newline + 1);
      }
      if (!blob || rest.length <= blob.size) break;
      yield { oid: blob.oid, bytes: rest.subarray(0, blob.size) };
      rest = rest.subarray(blob.size + 1);
      blob = undefined;
    }
    pieces = rest.length === 0 ? [] : [rest];
    missingBytes = blob ? blob.size + 1 - rest.length : 0;
  }
}

function missing(line: string): LitterboxError {
  return new LitterboxError('STORE_CORRUPT', `The history lacks a file that is to be written: ${line}.`, {
    operation: 'store.read',
    hint: 'If objects of the repository were deleted, restore them: `git fetch`, or copy them from another clone.',
  });
}
