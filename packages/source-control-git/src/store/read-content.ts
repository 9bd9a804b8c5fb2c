import { LitterboxError, type ObjectId, type SandboxId, shown } from '@litterbox/core/provider';
import { toByteString } from '../git/byte-text.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';
import { readBlobSizes } from './read-blob-sizes.ts';
import { readMeta } from './sandbox-refs.ts';
import type { Store } from './store.ts';

/** The bytes of a file of a revision or the base; undefined where it has no ordinary file. */
export async function readContent(
  store: Store,
  id: SandboxId,
  path: string,
  {
    at,
    maxBytes,
    signal,
  }: { readonly at: ObjectId; readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array | undefined> {
  const { base } = await readMeta(store, id);
  const tree = at === base.commit ? base.tree : await store.commitTree(at);
  const found = await new TreeLookup(store.reader, tree).entry(toByteString(path));
  if (!found?.mode.startsWith('100')) return undefined;
  for await (const [, size] of readBlobSizes(store, [found.oid], signal))
    if (size > maxBytes)
      throw new LitterboxError('FILE_TOO_LARGE', `${shown(path)} has ${size} bytes; at most ${maxBytes} are read.`, {
        operation: 'history.content',
      });
  return await store.reader.blob(found.oid);
}
