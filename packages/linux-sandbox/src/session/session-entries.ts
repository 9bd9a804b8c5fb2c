import { KEPT_TIME } from './kept-time.ts';

/** Entries of a directory that are made new. */
export interface NewEntries {
  readonly type: 'directories' | 'files' | 'pipes';
  /** In octal digits. */
  readonly mode: string;
  /** Words that a shell takes as they are. */
  readonly names: readonly string[];
}

/** Entries of a sandbox's directory by which its sessions are talked to and told apart. */
export const SESSION_ENTRIES: readonly NewEntries[] = [
  { type: 'directories', mode: '711', names: ['io'] },
  { type: 'directories', mode: '755', names: ['root', 'home', 'ws'] },
  { type: 'pipes', mode: '600', names: ['stop.fifo'] },
  { type: 'files', mode: '644', names: ['start.lock', 'alive.lock', 'clients.lock', KEPT_TIME] },
];

/** Shell text that makes them in the current directory, for umask 022. Files have mode 644, whatever is asked for. */
export function makeEntries(entries: readonly NewEntries[]): string {
  const make = ({ type, mode, names }: NewEntries) => {
    if (type === 'files') return names.map((name) => `: >${name}`).join('; ');
    return `${type === 'pipes' ? 'mkfifo' : 'mkdir'} -m ${mode} ${names.join(' ')}`;
  };
  return entries.map(make).join('\n');
}
