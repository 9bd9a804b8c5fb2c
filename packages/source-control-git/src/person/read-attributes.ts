import type { ByteString } from '../git/byte-text.ts';
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
  output(args: readonly string[], options?: Partial<GitCall>): Promise<Buffer>;
}

/** Attributes of paths, by the work tree, or by an index where it is `cached`. */
export async function readAttributes(
  repository: AskedRepository,
  attributes: readonly string[],
  paths: readonly ByteString[],
  { isCached, ...options }: Partial<GitCall> & { readonly isCached: boolean },
): Promise<readonly PathAttribute[]> {
  if (paths.length === 0) return [];
  const args = ['check-attr', ...(isCached ? ['--cached'] : []), '--stdin', '-z', ...attributes];
  const output = await repository.output(args, { ...options, input: pathList(paths) });
  const fields = output.toString('latin1').split('\0'); // path, attribute and value, in turn
  const found: PathAttribute[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', attribute = '', value = ''] = fields.slice(at, at + 3);
    found.push({ path, attribute, value });
  }
  return found;
}
