import { expect, it } from '@jest/globals';
import { terminalName } from './terminal-name.ts';

it.each([
  ['xterm-256color', 'xterm-256color'],
  ['tmux-256color', 'tmux-256color'],
  ['dumb', 'dumb'],
  ['xterm-ghostty', 'xterm-256color'],
  ['xterm-kitty', 'xterm-256color'],
  ['foot', 'xterm-256color'],
  ['', 'xterm'],
  [undefined, 'xterm'],
])('FC-30: a terminal that says %p is %s inside', (term, inside) => {
  expect(terminalName(term)).toBe(inside);
});
