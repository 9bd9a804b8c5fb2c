import { posix } from 'node:path';
import type { ObjectId } from '@litterbox/core/provider';
import { toByteString } from '../git/byte-text.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';
import type { Store } from '../store/store.ts';

/** @see https://docs.npmjs.com/cli/using-npm/scripts#life-cycle-operation-order */
const AT_INSTALL = 'preinstall install postinstall prepublish preprepare prepare postprepare dependencies'.split(' ');
/** Those nearest to the top: a repository may hold any number of them. */
const MAX_PACKAGES = 200;
const MAX_BYTES = 1024 * 1024;
/** No real package runs so much at an install, and an agent can make it as long as it likes. */
const MAX_SCRIPT_CHARACTERS = 16 * 1024;
const IS_PACKAGE = /^(?!(?:.*\/)?node_modules\/)(?:.*\/)?package\.json$/;
/** A shell and its quotes part the words of a script; what stands behind a variable or a pattern is not known. */
const BETWEEN_WORDS = /[\s"'`;&|()<>=,]+/;

/**
 * Tells whether a package manager runs a path while it installs: a script of a `package.json` of the tree names it, by itself or through
 * another one. Files that such a file loads are not found. Of a package whose scripts are too long to be read it is every path.
 *
 * @param sizes of blobs that somebody may have made large
 */
export async function installScripts(
  store: Store,
  tree: ObjectId,
  paths: ReadonlySet<string>,
  sizes: ReadonlyMap<ObjectId, number>,
): Promise<(path: string) => boolean> {
  const lookup = new TreeLookup(store.reader, tree);
  const isSmall = ({ oid }: { readonly oid: ObjectId }) => (sizes.get(oid) ?? 0) <= MAX_BYTES;
  const depth = (path: string) => path.split('/').length;
  const packages = [...paths].filter((path) => IS_PACKAGE.test(path)).toSorted((a, b) => depth(a) - depth(b));
  const named = new Set<string>();
  const unread: string[] = [];
  for (const path of packages.slice(0, MAX_PACKAGES)) {
    const entry = await lookup.entry(toByteString(path));
    if (!entry || !entry.mode.startsWith('100')) continue;
    const words = isSmall(entry) ? wordsOf((await store.reader.blob(entry.oid)).toString()) : undefined;
    if (words === undefined) unread.push(path.slice(0, -'package.json'.length));
    for (const word of words ?? []) named.add(posix.join(posix.dirname(path), word).replace(/\/$/, ''));
  }
  for (const path of named) {
    const entry = paths.has(path) ? await lookup.entry(toByteString(path)) : undefined;
    if (entry?.mode === '120000' && isSmall(entry))
      named.add(posix.join(posix.dirname(path), (await store.reader.blob(entry.oid)).toString()));
  }
  return (path) => ways(path).some((way) => named.has(way)) || unread.some((directory) => path.startsWith(directory));
}

/** Words of the scripts that run at an install, and of those that they call. Undefined where these are too long. */
function wordsOf(text: string): ReadonlySet<string> | undefined {
  const scripts = scriptsOf(text);
  const words = new Set<string>();
  const open = [...AT_INSTALL];
  let length = 0;
  for (const done = new Set<string>(); open.length > 0; ) {
    const name = open.pop() as string;
    const script = scripts.get(name);
    if (script === undefined || done.has(name)) continue;
    done.add(name);
    length += script.length;
    if (length > MAX_SCRIPT_CHARACTERS) return undefined;
    for (const word of script.split(BETWEEN_WORDS)) {
      words.add(word);
      open.push(word, `pre${word}`, `post${word}`);
    }
  }
  words.delete('');
  return words;
}

function scriptsOf(text: string): ReadonlyMap<string, string> {
  try {
    const { scripts } = JSON.parse(text.replace(/^\ufeff/, '')) as { readonly scripts?: object };
    return new Map(Object.entries(scripts ?? {}).filter(([, script]) => typeof script === 'string'));
  } catch {
    return new Map(); // the package manager refuses it too
  }
}

/** Ways to name a file: Node takes it without its ending, and a directory for its index. `scripts/*` names all below. */
function ways(path: string): readonly string[] {
  const bare = path.replace(/\.[^./]+$/, '');
  const directory = posix.dirname(path);
  return [path, bare, ...(posix.basename(bare) === 'index' ? [directory] : []), `${directory}/*`];
}
