/** Terminals that the smallest Debian describes (package ncurses-base of Debian 12); other systems have at least these. */
const DESCRIBED = new Set(
  'ansi dumb linux rxvt rxvt-basic rxvt-unicode rxvt-unicode-256color screen screen-256color sun tmux tmux-256color vt100 vt102 vt220 vt52 xterm xterm-256color xterm-color xterm-mono'.split(
    ' ',
  ),
);

/**
 * What a program inside is told that the person's terminal is. Newer terminals have a name of their own, which `less` and `vim` in a
 * sandbox would find no description of; all of them understand what xterm does.
 */
export function terminalName(term: string | undefined): string {
  if (term === undefined || term === '') return 'xterm';
  return DESCRIBED.has(term) ? term : 'xterm-256color';
}
