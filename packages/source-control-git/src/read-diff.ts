import type { DiffOptions, FileChange, ObjectId, SandboxId } from '@litterbox/core/provider';
import { fromByteString, toByteString } from './byte-text.ts';
import { readMeta, readTip } from './sandbox-refs.ts';
import type { Store } from './store.ts';

/** Nothing of a tree or a configuration decides how a difference is shown. */
const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=none', '--end-of-options'];

const STATUSES: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  D: 'deleted',
  T: 'type-changed',
};

type Trees = readonly [from: ObjectId, to: ObjectId];

export async function* readDiff(
  store: Store,
  id: SandboxId,
  options: DiffOptions | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [from, to] = await treesOf(store, id, options);
  if (from === to) return;
  const context = options?.contextLines === undefined ? [] : [`-U${options.contextLines}`];
  const args = ['diff-tree', '-r', '-p', '-M', ...context, '--src-prefix=a/', '--dst-prefix=b/', ...PLAIN, from, to];
  yield* store.stream(asBytes([...args, ...pathArguments(options)]), { signal: options?.signal });
}

export async function readChangedFiles(
  store: Store,
  id: SandboxId,
  options: DiffOptions | undefined,
): Promise<readonly FileChange[]> {
  return compareTrees(store, await treesOf(store, id, options), options);
}

/** The files that differ between two trees of the store. */
export async function compareTrees(
  store: Store,
  [from, to]: Trees,
  options?: Pick<DiffOptions, 'paths' | 'signal'>,
): Promise<readonly FileChange[]> {
  if (from === to) return [];
  const args = ['diff-tree', '-r', '-z', '--raw', '--numstat', '--no-renames', ...PLAIN, from, to];
  const output = await store.output(asBytes([...args, ...pathArguments(options)]), { signal: options?.signal });
  const fields = output.toString('latin1').split('\0');
  const changes = new Map<string, FileChange>();
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] ?? '';
    if (field.startsWith(':')) {
      const [oldMode = '', newMode = '', , , status = ''] = field.slice(1).split(' ');
      const path = fields[++index] ?? '';
      changes.set(path, {
        path: fromByteString(path),
        status: STATUSES[status] ?? 'modified',
        executable: (status === 'D' ? oldMode : newMode) === '100755',
        binary: false,
      });
      continue;
    }
    const [added, removed, ...rest] = field.split('\t');
    const path = rest.join('\t');
    const change = changes.get(path);
    if (!change) continue;
    if (added === '-') changes.set(path, { ...change, binary: true });
    else changes.set(path, { ...change, addedLines: Number(added), removedLines: Number(removed) });
  }
  return [...changes.values()];
}

async function treesOf(store: Store, id: SandboxId, options: DiffOptions | undefined): Promise<Trees> {
  if (options?.revision === undefined) {
    const [{ base }, tip] = [await readMeta(store, id), await readTip(store, id)];
    return [base.tree, tip.tree];
  }
  const { tree, parents, revision } = await store.reader.commit(options.revision);
  if (options.against !== undefined) return [await store.commitTree(options.against), tree];
  const [parent] = parents;
  // The base has nothing before it that a sandbox changed.
  return revision && parent !== undefined ? [await store.commitTree(parent), tree] : [tree, tree];
}

function pathArguments(options: Pick<DiffOptions, 'paths'> | undefined): readonly string[] {
  return options?.paths ? ['--', ...options.paths.map((path) => path.replace(/\/+$/, ''))] : [];
}

/** Node passes arguments on as UTF-8; a name that is none cannot be an argument and matches nothing. */
function asBytes(args: readonly string[]): readonly string[] {
  return args.map((argument) => Buffer.from(toByteString(argument), 'latin1').toString('utf8'));
}
