import type { ObjectId } from '@litterbox/core/provider';
import type { Store } from './store.ts';

const SIZE = /^([0-9a-f]+) ([0-9]+)$/gm;

/** Sizes in bytes, one by one, each as often as it is asked for. What is not there is left out. */
export async function* readBlobSizes(
  store: Store,
  oids: readonly ObjectId[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly [ObjectId, number], void, undefined> {
  if (oids.length === 0) return;
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)'];
  const listed = (await store.output(args, { input: `${oids.join('\n')}\n`, signal })).toString('latin1');
  for (const [, oid = '', size = ''] of listed.matchAll(SIZE)) yield [oid as ObjectId, Number(size)];
}
