import {
  type CallOptions,
  type ChangedPath,
  encodeRaw,
  LitterboxError,
  type RecordRequest,
  type RecordWarning,
  secretIn,
} from '@litterbox/core/provider';
import { type FileTree, isSameFile, putFile, type TreeFile } from './file-tree.ts';
import { IGNORE_FILE, isIgnored } from './ignore-rules.ts';
import { readTar } from '../tools/read-tar.ts';

/** A tree after changes were taken into it, and what was not. */
export interface RecordedTree {
  readonly tree: FileTree;
  readonly warnings: readonly RecordWarning[];
  readonly ignoreRulesChanged: boolean;
}

/** Takes what changed in a workspace into a tree, as `SourceRepository.record` promises it. */
export async function recordedTree(
  before: FileTree,
  { changes, contents, secrets = [] }: RecordRequest,
  options?: CallOptions,
): Promise<RecordedTree> {
  const tree = new Map<string, TreeFile>(before);
  const warnings: RecordWarning[] = [];
  const asked: string[] = [];
  const given: Extract<ChangedPath, { type: 'file' }>[] = [];
  for await (const change of changes) {
    const warning = warningOf(change);
    if (warning) warnings.push(warning);
    else if (change.type === 'directory') removeMissing(tree, change);
    else if (change.type === 'file' && change.content) given.push(change);
    else asked.push(change.path);
  }
  const take = (path: string, file: TreeFile) => {
    if (!before.has(path) && isIgnored(path, tree)) return;
    const secret = secretIn(file.content, secrets) ?? secretIn(encodeRaw(path), secrets);
    if (secret === undefined || isSameFile(before.get(path), file)) putFile(tree, path, file);
    else warnings.push({ type: 'holds-secret', path, secret });
  };
  // Rules first: what they name by now is not taken.
  for (const { path, content = new Uint8Array(), executable } of given.toSorted(rulesFirst))
    take(path, { type: 'file', isExecutable: executable, content });
  const wanted = asked.filter((path) => before.has(path) || !isIgnored(path, tree));
  for (const [path, file] of await fetched(wanted, contents, options)) take(path, file);
  return { tree, warnings, ignoreRulesChanged: !isSameFile(before.get(IGNORE_FILE), tree.get(IGNORE_FILE)) };
}

async function fetched(
  wanted: readonly string[],
  contents: RecordRequest['contents'],
  options?: CallOptions,
): Promise<ReadonlyMap<string, TreeFile>> {
  const files = new Map<string, TreeFile>();
  if (wanted.length === 0) return files;
  const paths = (async function* () {
    yield* wanted;
  })();
  const parts: Uint8Array[] = [];
  for await (const part of contents(paths, options)) parts.push(part);
  options?.signal?.throwIfAborted();
  for (const { path, type, isExecutable, content, target } of readTar(Buffer.concat(parts))) {
    if (type === 'directory') continue;
    if (!wanted.includes(path) || files.has(path))
      throw new LitterboxError('TAR_DUPLICATE', `${JSON.stringify(path)} was not asked for, or came twice.`, {
        operation: 'repository.record',
      });
    files.set(path, { type, isExecutable, content: type === 'symlink' ? encodeRaw(target) : content });
  }
  return files;
}

/** What is not among a directory's children is gone, and so is what has another type there. */
function removeMissing(tree: Map<string, TreeFile>, { path, children }: Extract<ChangedPath, { type: 'directory' }>) {
  const prefix = path === '' ? '' : `${path}/`;
  const types = new Map(children.map(({ name, type }) => [name, type]));
  tree.delete(path);
  for (const one of tree.keys()) {
    if (!one.startsWith(prefix)) continue;
    const [name = '', ...below] = one.slice(prefix.length).split('/');
    const type = types.get(name);
    if (below.length > 0 ? type !== 'directory' : type !== 'file' && type !== 'symlink') tree.delete(one);
  }
}

function warningOf({ type, path }: ChangedPath): RecordWarning | undefined {
  const names = path.toLowerCase().split('/');
  if (names.includes('.git'))
    return names[0] === '.git'
      ? { type: 'refused-path', code: 'PATH_GIT_DIR', path }
      : { type: 'nested-repository', path: path.slice(0, path.toLowerCase().indexOf('/.git')) };
  if (type === 'unreadable') return { type, path };
  if (type === 'special') return { type: 'refused-path', code: 'NOT_A_REGULAR_FILE', path };
  if (type === 'symlink' && names.some((name) => name.startsWith('.git')))
    return { type: 'refused-path', code: 'PATH_SPECIAL_SYMLINK', path };
  return undefined;
}

const rulesFirst = (one: ChangedPath, other: ChangedPath) =>
  Number(other.path === IGNORE_FILE) - Number(one.path === IGNORE_FILE);
