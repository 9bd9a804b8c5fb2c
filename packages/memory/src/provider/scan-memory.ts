import { type ChangedPath } from '@litterbox/core/provider';
import type { Directory, FileNode } from '../machine/memory-files.ts';

/** What changed below a directory since a version. */
export function* scanMemory(directory: Directory, since: number, path = ''): Generator<ChangedPath, void, undefined> {
  if ((directory.mode & 0o400) === 0) {
    yield { type: 'unreadable', path };
    return;
  }
  if (directory.version > since) {
    const children = [...directory.children].map(([name, { type }]) => ({ name, type }));
    yield { type: 'directory', path, children };
  }
  for (const [name, node] of directory.children) {
    const below = path === '' ? name : `${path}/${name}`;
    if (node.type === 'directory') yield* scanMemory(node, since, below);
    else if (node.version > since) yield changeOf(node, below);
  }
}

function changeOf(node: Exclude<FileNode, Directory>, path: string): ChangedPath {
  if (node.type !== 'file') return { type: node.type, path };
  return { type: 'file', path, sizeBytes: node.content.length, executable: (node.mode & 0o100) !== 0 };
}
