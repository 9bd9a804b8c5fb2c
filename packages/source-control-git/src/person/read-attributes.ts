import type { ByteString } from '../git/byte-text.ts';
import { nulFields } from '../git/nul-fields.ts';
import { pathList } from './marked-files.ts';
import type { GitCall } from '../git/run-git.ts';

/** What git says of one attribute of one path: `set`, `unset`, `unspecified` or the value. */
export interface PathAttribute {
  readonly path: ByteString;
  readonly attribute: string;
  readonly value: ByteString;
}

/** A repository that is asked, by plumbing: the paths go to standard input. */
interface AskedRepository {
  stream(args: readonly string[], options?: Partial<GitCall>): AsyncIterable<Buffer>;
}

/** Attributes of paths, by the work tree, or by an index where it is `cached`. */
export async function* readAttributes(
  repository: AskedRepository,
  attributes: readonly string[],
  paths: readonly ByteString[],
  { isCached, ...options }: Partial<GitCall> & { readonly isCached: boolean },
): AsyncGenerator<PathAttribute, void, undefined> {
  if (paths.length === 0) return;
  const args = ['check-attr', ...(isCached ? ['--cached'] : []), '--stdin', '-z', ...attributes];
  let record: ByteString[] = []; // path, attribute and value, in turn
  for await (const fields of nulFields(repository.stream(args, { ...options, input: pathList(paths) })))
    for (const field of fields) {
      record.push(field);
      if (record.length < 3) continue;
      const [path = '', attribute = '', value = ''] = record;
      yield { path, attribute, value };
      record = [];
    }
}
