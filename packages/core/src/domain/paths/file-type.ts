/** What a path is. `special`: a fifo, socket or device. */
export type FileType = 'file' | 'directory' | 'symlink' | 'special';
