import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from './byte-text.ts';
import { nulFields } from './nul-fields.ts';
import type { Store } from './store.ts';

/** An entry of a tree, at whatever depth. */
export interface Listed {
  readonly mode: string;
  readonly oid: ObjectId;
  readonly path: ByteString;
}

/** Everything in a tree, directories before what is in them. */
export async function* listTree(
  store: Pick<Store, 'stream'>,
  tree: ObjectId,
  signal: AbortSignal | undefined,
): AsyncGenerator<Listed, void, undefined> {
  for await (const lines of nulFields(store.stream(['ls-tree', '-r', '-t', '-z', '--full-tree', tree], { signal }))) {
    for (const line of lines) {
      const tab = line.indexOf('\t');
      const [mode = '', , oid = ''] = line.slice(0, tab).split(' ');
      yield { mode: mode.replace(/^0+/, ''), oid: oid as ObjectId, path: line.slice(tab + 1) };
    }
  }
}
