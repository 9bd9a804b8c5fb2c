import { expect, test } from '@jest/globals';
import { TerminalModes } from './terminal-modes.ts';

const after = (...outputs: readonly string[]) => {
  const modes = new TerminalModes();
  for (const output of outputs) modes.hear(Buffer.from(output, 'latin1'));
  return modes.takeRestoring();
};

test('FC-319: what a program set and did not take back is taken back, whatever pieces it came in', () => {
  const vi = '\x1b[?1049h\x1b[?1h\x1b=text\x1b[?25l';
  const undone = '\x1b[0m\x1b[?1049l\x1b[?1l\x1b[?25h\x1b>';
  expect(after(vi)).toBe(undone);
  expect(after(...vi.split(''))).toBe(undone);
  expect(after('\x1b[?1000;1006;2004h')).toBe('\x1b[0m\x1b[?1000l\x1b[?1006l\x1b[?2004l');
});

test('nothing is written where the program took it back, or set nothing that is known', () => {
  expect(after('\x1b[?1049h', '\x1b[?25l', 'text', '\x1b[?25h\x1b[?1049l')).toBe('');
  expect(after('\x1b[?2004h$ exit\r\n\x1b[?2004l')).toBe('');
  expect(after('\x1b[31mred\x1b[?7777h\x1b[?', 'x'.repeat(100))).toBe('');
});
