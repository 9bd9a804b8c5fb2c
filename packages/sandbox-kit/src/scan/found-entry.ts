/** One entry of a file tree, as a program that looked at it told. */
export interface FoundEntry {
  /** `f`, `d`, `l` as `find` names types, `c` for a character device, another letter for anything else. */
  readonly letter: string;
  /** Of directories alone, because there may be a hundred thousand others. */
  readonly inode: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly path: string;
  readonly isReadable: boolean;
  readonly content?: Uint8Array;
  /** Number of the layer below the uppermost one that it is in. */
  readonly layer?: string;
}

/** Reads a line of `find` or of a walker: type, inode, mode (octal), size, path; `u` is a directory that cannot be read. */
export function foundEntry(text: string): FoundEntry {
  const letter = text.charAt(0);
  const afterInode = text.indexOf(' ', 2);
  const afterMode = text.indexOf(' ', afterInode + 1);
  const afterSize = text.indexOf(' ', afterMode + 1);
  const isDirectory = letter === 'd' || letter === 'u';
  return {
    letter: isDirectory ? 'd' : letter,
    inode: isDirectory ? text.slice(2, afterInode) : '',
    mode: Number.parseInt(text.slice(afterInode + 1, afterMode), 8),
    sizeBytes: sizeOf(text.slice(afterMode + 1, afterSize)),
    path: text.slice(afterSize + 1),
    isReadable: letter !== 'u',
  };
}

/** A text that is no size counts as one that is too large for everything. */
export function sizeOf(text: string): number {
  const size = Number(text);
  return size >= 0 && size <= Number.MAX_SAFE_INTEGER ? size : Number.MAX_SAFE_INTEGER;
}
