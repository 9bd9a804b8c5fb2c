import { type ChangedPath, type LitterboxErrorCode } from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import { addEdit, type EditedDirectory, editedDirectory } from '../objects/edit-tree.ts';
import { isGitLike, pathFault } from '../objects/path-rules.ts';
import type { TreeLookup } from '../objects/tree-lookup.ts';
import { isGitlink, isTree, type TreeEntry } from '../objects/tree-object.ts';

export interface Candidate {
  readonly type: 'file' | 'symlink';
  readonly sizeBytes: number;
  readonly executable: boolean;
}

/** Candidates by path. A number each instead of an object: there may be a hundred thousand. */
export class Candidates implements Iterable<readonly [ByteString, Candidate]> {
  readonly #packed = new Map<ByteString, number>();

  set(path: ByteString, { type, sizeBytes, executable }: Candidate): void {
    this.#packed.set(path, sizeBytes * 4 + (type === 'symlink' ? 2 : 0) + (executable ? 1 : 0));
  }

  get size(): number {
    return this.#packed.size;
  }

  *[Symbol.iterator](): Generator<readonly [ByteString, Candidate], void, undefined> {
    for (const [path, packed] of this.#packed) {
      const flags = packed % 4;
      const type = flags >= 2 ? 'symlink' : 'file';
      yield [path, { type, sizeBytes: Math.floor(packed / 4), executable: flags % 2 === 1 }];
    }
  }
}

export interface Refusal {
  readonly type: 'refused-path' | 'nested-repository' | 'unreadable';
  readonly code: LitterboxErrorCode;
}

/** What a scan reported, checked and sorted, before any content is read. */
export interface ChangedWorkspace {
  readonly candidates: Candidates;
  /** Contents that came with the scan. */
  readonly contents: ReadonlyMap<ByteString, Uint8Array>;
  /** What a person may be told about, unless the path is ignored. */
  readonly refusals: ReadonlyMap<ByteString, Refusal>;
  /** Entries of the tip that are gone, with what they were. Whole directories too. */
  readonly deleted: ReadonlyMap<ByteString, TreeEntry>;
  /** The same, as edits of the tip's tree. */
  readonly edits: EditedDirectory;
  /** Entries of the tree of untracked rules that are gone, and the same as edits. */
  readonly deletedRules: ReadonlyMap<ByteString, TreeEntry>;
  readonly ruleEdits: EditedDirectory;
}

/** Reads a scan to its end. Memory grows with the number of changed paths, by some 200 bytes each. */
export async function readChanges(
  changes: AsyncIterable<ChangedPath>,
  tip: TreeLookup,
  rules: TreeLookup,
  signal: AbortSignal | undefined,
): Promise<ChangedWorkspace> {
  const candidates = new Candidates();
  const contents = new Map<ByteString, Uint8Array>();
  const refusals = new Map<ByteString, Refusal>();
  const deleted = new Map<ByteString, TreeEntry>();
  const edits = editedDirectory();
  const deletedRules = new Map<ByteString, TreeEntry>();
  const ruleEdits = editedDirectory();

  for await (const change of changes) {
    signal?.throwIfAborted();
    const path = toByteString(change.path);
    if (path !== '') {
      const fault = pathFault(path);
      if (fault === 'PATH_GIT_DIR') {
        const [at, refusal] = gitDirectoryIn(path);
        refusals.set(at, refusal);
        continue;
      }
      if (fault !== undefined) {
        refusals.set(path, { type: 'refused-path', code: fault });
        continue;
      }
    }
    switch (change.type) {
      case 'file':
        candidates.set(path, { type: 'file', sizeBytes: change.sizeBytes, executable: change.executable });
        if (change.content) contents.set(path, change.content);
        break;
      case 'symlink':
        candidates.set(path, { type: 'symlink', sizeBytes: 0, executable: false });
        break;
      case 'special':
        refusals.set(path, { type: 'refused-path', code: 'NOT_A_REGULAR_FILE' });
        break;
      case 'unreadable':
        refusals.set(path, { type: 'unreadable', code: 'PERMISSION_DENIED' });
        break;
      case 'directory': {
        const children = new Map(change.children.map(({ name, type }) => [toByteString(name), type]));
        for (const entry of (await tip.directory(path))?.values() ?? []) {
          if (isKept(entry, children.get(entry.name))) continue;
          const at = join(path, entry.name);
          deleted.set(at, entry);
          addEdit(edits, at, { type: 'delete' });
        }
        for (const entry of (await rules.directory(path))?.values() ?? []) {
          if (isKept(entry, children.get(entry.name))) continue;
          const at = join(path, entry.name);
          deletedRules.set(at, entry);
          addEdit(ruleEdits, at, { type: 'delete' });
        }
      }
    }
  }
  return { candidates, contents, refusals, deleted, edits, deletedRules, ruleEdits };
}

/** Whether what the tip has may still be there, by the type of what the directory holds under that name. */
function isKept(entry: TreeEntry, now: 'file' | 'directory' | 'symlink' | 'special' | undefined): boolean {
  if (now === undefined) return false;
  // A submodule is an empty directory in a workspace.
  if (isTree(entry) || isGitlink(entry)) return now === 'directory';
  return now === 'file' || now === 'symlink';
}

/** The first component that is or passes for `.git`. */
function gitDirectoryIn(path: ByteString): readonly [ByteString, Refusal] {
  const names = path.split('/');
  const index = names.findIndex(isGitLike);
  const at = names.slice(0, index + 1).join('/');
  // One at the top is no repository inside the workspace but the workspace's own, which it must not have.
  const isNested = names[index] === '.git' && index > 0;
  return [at, { type: isNested ? 'nested-repository' : 'refused-path', code: 'PATH_GIT_DIR' }];
}

export function join(directory: ByteString, name: ByteString): ByteString {
  return directory === '' ? name : `${directory}/${name}`;
}

export function refusalWarning(path: ByteString, { type, code }: Refusal) {
  const text = fromByteString(path);
  return type === 'refused-path' ? ({ type, code, path: text } as const) : ({ type, path: text } as const);
}
