import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { nulFields } from '../git/nul-fields.ts';
import type { Store } from './store.ts';

/** An entry of a tree, at whatever depth. */
export interface Listed {
  readonly mode: string;
  readonly oid: ObjectId;
  readonly path: ByteString;
}

/** More paths than these make a command line too long, and a whole listing worth its while. */
const MOST_PATHS = 500;

/**
 * Everything in a tree, directories before what is in them.
 *
 * @param near of what lies elsewhere than at these paths, or above them, nothing has to be told; some may be all the same
 */
export async function* listTree(
  store: Pick<Store, 'stream'>,
  tree: ObjectId,
  signal: AbortSignal | undefined,
  near?: ReadonlySet<ByteString>,
): AsyncGenerator<Listed, void, undefined> {
  const paths = near && wordsOf(near);
  if (paths?.length === 0) return;
  const whole = paths === undefined ? ['-r'] : [];
  const args = ['ls-tree', ...whole, '-t', '-z', '--full-tree', tree, ...(paths ? ['--', ...paths] : [])];
  for await (const lines of nulFields(store.stream(args, { signal }))) {
    for (const line of lines) {
      const tab = line.indexOf('\t');
      const [mode = '', , oid = ''] = line.slice(0, tab).split(' ');
      yield { mode: mode.replace(/^0+/, ''), oid: oid as ObjectId, path: line.slice(tab + 1) };
    }
  }
}

/** Paths as words of a command line; undefined where there are too many, or one is no text. */
function wordsOf(paths: ReadonlySet<ByteString>): readonly string[] | undefined {
  if (paths.size > MOST_PATHS) return undefined;
  const words: string[] = [];
  for (const path of paths) {
    const bytes = Buffer.from(path, 'latin1');
    const word = bytes.toString('utf8');
    if (Buffer.compare(Buffer.from(word, 'utf8'), bytes) !== 0) return undefined;
    words.push(word);
  }
  return words;
}
