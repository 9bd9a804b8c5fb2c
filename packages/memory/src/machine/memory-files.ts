/** What a path is, and how it may be used. Versions tell when it changed: 0 is as the base had it. */
export type FileNode = PlainFile | Directory | SymbolicLink | SpecialFile;

export interface PlainFile {
  readonly type: 'file';
  content: Uint8Array;
  mode: number;
  version: number;
}

export interface Directory {
  readonly type: 'directory';
  readonly children: Map<string, FileNode>;
  mode: number;
  version: number;
}

export interface SymbolicLink {
  readonly type: 'symlink';
  readonly target: string;
  version: number;
}

/** A pipe that has a name, or the device that holds nothing. */
export interface SpecialFile {
  readonly type: 'special';
  readonly kind: 'fifo' | 'null';
  version: number;
}

/** Why a path cannot be used, in the words of programs. */
export class FileFailure extends Error {}

/** Where a path leads: the directory that holds it, and what is there. */
export interface Found {
  readonly parent: Directory;
  readonly name: string;
  readonly node: FileNode | undefined;
  /** Without links. */
  readonly path: string;
}

const MAX_LINKS = 40;

export const directoryNode = (version = 0): Directory => ({
  type: 'directory',
  children: new Map(),
  mode: 0o755,
  version,
});

/** Files in memory, by absolute paths. */
export class MemoryFiles {
  readonly root = directoryNode();
  #version = 0;

  /** The number of the last change. */
  get version(): number {
    return this.#version;
  }

  /** Notes that something changed. */
  touch(node: FileNode): void {
    this.#version += 1;
    node.version = this.#version;
  }

  /** Goes on counting where another one stopped. */
  countFrom(version: number): void {
    this.#version = version;
  }

  /** @param isFollowed whether a link at the end is followed. @throws FileFailure when a directory above it is none. */
  find(path: string, isFollowed = true, links = 0): Found {
    if (links > MAX_LINKS) throw new FileFailure('Too many levels of symbolic links');
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const trail: { readonly node: Directory; readonly name: string }[] = [{ node: this.root, name: '' }];
    for (const [index, name] of names.entries()) {
      const top = trail.at(-1);
      if (!top) break;
      if (name === '..') {
        if (trail.length > 1) trail.pop();
        continue;
      }
      const here = pathOf(trail, name);
      const isLast = index === names.length - 1;
      const node = top.node.children.get(name);
      if (node?.type === 'symlink' && (!isLast || isFollowed || path.endsWith('/'))) {
        const rest = names.slice(index + 1).join('/');
        const target = node.target.startsWith('/') ? node.target : `${pathOf(trail)}/${node.target}`;
        return this.find(rest === '' ? target : `${target}/${rest}`, isFollowed, links + 1);
      }
      if (isLast) return { parent: top.node, name, node, path: here };
      if (!node) throw new FileFailure('No such file or directory');
      if (node.type !== 'directory') throw new FileFailure('Not a directory');
      trail.push({ node, name });
    }
    const last = trail.at(-1);
    const parent = trail.at(-2)?.node ?? this.root;
    return { parent, name: last?.name ?? '', node: last?.node, path: pathOf(trail) || '/' };
  }

  /** What is there, or nothing whatever the reason. */
  look(path: string, isFollowed = true): FileNode | undefined {
    try {
      return this.find(path, isFollowed).node;
    } catch (error) {
      if (error instanceof FileFailure) return undefined;
      throw error;
    }
  }

  read(path: string): Uint8Array {
    const { node } = this.find(path);
    if (!node) throw new FileFailure('No such file or directory');
    if (node.type === 'directory') throw new FileFailure('Is a directory');
    if (node.type !== 'file') return new Uint8Array();
    if ((node.mode & 0o400) === 0) throw new FileFailure('Permission denied');
    return node.content;
  }

  /** Opens a file to be written, made where there is none. */
  open(path: string): PlainFile | SpecialFile {
    const { node, parent, name } = this.find(path);
    if (path.endsWith('/') || node?.type === 'directory') throw new FileFailure('Is a directory');
    if (node && node.type !== 'symlink') {
      if (node.type === 'file' && (node.mode & 0o200) === 0) throw new FileFailure('Permission denied');
      return node;
    }
    const file: PlainFile = { type: 'file', content: new Uint8Array(), mode: 0o644, version: 0 };
    this.put(parent, name, file);
    return file;
  }

  write(path: string, content: Uint8Array, mode?: number): void {
    const file = this.open(path);
    if (file.type !== 'file') return;
    file.content = content;
    if (mode !== undefined) file.mode = mode;
    this.touch(file);
  }

  put(parent: Directory, name: string, node: FileNode): void {
    if ((parent.mode & 0o200) === 0) throw new FileFailure('Permission denied');
    parent.children.set(name, node);
    this.touch(node);
    this.touch(parent);
  }

  /** @param isWithParents also makes what is above, and takes a directory that is there. */
  makeDirectory(path: string, isWithParents: boolean): void {
    if (isWithParents) {
      const above = path.slice(0, path.lastIndexOf('/'));
      if (above !== '' && this.look(above)?.type !== 'directory') this.makeDirectory(above, true);
    }
    const { node, parent, name } = this.find(path);
    if (node?.type === 'directory' && isWithParents) return;
    if (node) throw new FileFailure('File exists');
    this.put(parent, name, directoryNode());
  }

  /** Takes away a name, with all below it. */
  remove(path: string): void {
    const { node, parent, name } = this.find(path, false);
    if (!node) throw new FileFailure('No such file or directory');
    if ((parent.mode & 0o200) === 0) throw new FileFailure('Permission denied');
    parent.children.delete(name);
    this.touch(parent);
  }

  rename(source: string, target: string): void {
    const from = this.find(source, false);
    if (!from.node) throw new FileFailure('No such file or directory');
    const to = this.find(target, false);
    const below = to.node?.type === 'directory' ? { parent: to.node, name: from.name } : to;
    if (to.node?.type === 'directory' && from.node === to.node) return;
    from.parent.children.delete(from.name);
    this.touch(from.parent);
    this.put(below.parent, below.name, from.node);
    this.touchAll(from.node);
  }

  /** All of it is new where it is now. */
  touchAll(node: FileNode): void {
    this.touch(node);
    if (node.type === 'directory') for (const child of node.children.values()) this.touchAll(child);
  }
}

/** A copy that shares nothing, with the versions of the original. Names of one file stay names of one file. */
export function copyOfNode(node: FileNode, made = new Map<FileNode, FileNode>()): FileNode {
  const known = made.get(node);
  if (known) return known;
  if (node.type !== 'directory') {
    const copy: FileNode = node.type === 'file' ? { ...node, content: node.content.slice() } : { ...node };
    made.set(node, copy);
    return copy;
  }
  const copy: Directory = { ...node, children: new Map() };
  made.set(node, copy);
  for (const [name, child] of node.children) copy.children.set(name, copyOfNode(child, made));
  return copy;
}

function pathOf(trail: readonly { readonly name: string }[], name?: string): string {
  const names = [...trail.slice(1).map((one) => one.name), ...(name === undefined ? [] : [name])];
  return names.map((one) => `/${one}`).join('');
}
