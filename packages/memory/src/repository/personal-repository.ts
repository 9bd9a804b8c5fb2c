import { decodeRaw, encodeRaw, type ObjectId } from '@litterbox/core/provider';
import { differences, digestOf, type FileTree, putFile, type TreeFile, treeIdOf } from './file-tree.ts';
import { isIgnored } from './ignore-rules.ts';

/** A commit of the person's, or one that Litterbox made. */
export interface KeptCommit {
  readonly id: ObjectId;
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly message: string;
  readonly atMs: number;
}

/** Where review branches are exported to; no part of the person's work. */
export const EXPORTS = '.litterbox/';

/** A repository as a person has it: a work tree, a branch, and what was committed. In the place of a directory. */
export class PersonalRepository {
  readonly root: string;
  readonly commits = new Map<ObjectId, KeptCommit>();
  readonly trees = new Map<ObjectId, FileTree>();
  /** By full name. */
  readonly refs = new Map<string, ObjectId>();
  readonly work = new Map<string, TreeFile>();
  readonly headRef = 'refs/heads/main';
  /** A merge was left with conflicts. */
  isMerging = false;

  constructor(root: string) {
    this.root = root;
  }

  get head(): KeptCommit | undefined {
    const id = this.refs.get(this.headRef);
    return id && this.commits.get(id);
  }

  get headTree(): FileTree {
    return this.treeOf(this.head?.tree);
  }

  /** The work tree as git sees it: without what is ignored, unless it is tracked. */
  get visible(): FileTree {
    const tracked = this.headTree;
    return new Map(
      [...this.work].filter(
        ([path]) => !path.startsWith(EXPORTS) && (tracked.has(path) || !isIgnored(path, this.work)),
      ),
    );
  }

  /** Paths with uncommitted changes. */
  get edited(): readonly string[] {
    return differences(this.headTree, this.visible);
  }

  treeOf(id: ObjectId | undefined): FileTree {
    return (id && this.trees.get(id)) ?? new Map<string, TreeFile>();
  }

  read(path: string): string | undefined {
    const file = this.work.get(path);
    return file && decodeRaw(file.content);
  }

  write(path: string, content: string): void {
    putFile(this.work, path, { type: 'file', isExecutable: false, content: encodeRaw(content) });
  }

  /** Commits everything that is not ignored, as the person. */
  commit(message = 'more'): KeptCommit {
    this.isMerging = false;
    return this.keep(this.visible, this.head ? [this.head.id] : [], message, this.headRef);
  }

  /** Keeps a tree. */
  keepTree(tree: FileTree): ObjectId {
    const id = treeIdOf(tree);
    this.trees.set(id, new Map(tree));
    return id;
  }

  /** Makes a commit, and lets a ref point to it. */
  keep(tree: FileTree, parents: readonly ObjectId[], message: string, ref?: string, atMs = 0): KeptCommit {
    const treeId = this.keepTree(tree);
    const id = digestOf('commit', treeId, ...parents, message, String(atMs), String(this.commits.size));
    const commit = { id, tree: treeId, parents, message, atMs };
    this.commits.set(id, commit);
    if (ref !== undefined) this.refs.set(ref, id);
    return commit;
  }

  /** Whether a commit is the other one, or among what that came from. */
  isReachable(commit: ObjectId, from: ObjectId | undefined): boolean {
    const queue = from ? [from] : [];
    const seen = new Set(queue);
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      if (id === commit) return true;
      for (const parent of this.commits.get(id)?.parents ?? [])
        if (!seen.has(parent)) {
          seen.add(parent);
          queue.push(parent);
        }
    }
    return false;
  }

  /** Everything that the person could notice, as one text. */
  digest(): string {
    const refs = [...this.refs].map(([name, id]) => `${name} ${id}`).sort();
    return [...refs, treeIdOf(this.work), String(this.isMerging)].join('\n');
  }
}
